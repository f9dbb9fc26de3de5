/** Another user of the machine who tries to operate the server: neither the socket nor a port of the internal API lets them in. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ChannelCredentials, Metadata, status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { internalApiTokenFile } from '../../process/settings.ts';
import { HealthService } from '../../proto/generated/grpc/health/v1/health.ts';
import { ClusterService, NodeState } from '../../proto/generated/scriptorium/v1/cluster.ts';
import { startConfiguredServer } from '../kit/configured-server.ts';
import { type Caller, callerOf } from '../kit/internal-api.ts';

const page = { pageSize: 0, pageToken: '' };
const modeOf = (path: string) => statSync(path).mode & 0o777;

const showing = (t: ExecutionContext, address: string, authorization?: string): Caller => {
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set('authorization', authorization);
  return callerOf(t, address, ChannelCredentials.createInsecure(), metadata);
};

/** The status with which a watch of health ends. */
const watched = (t: ExecutionContext, address: string): Promise<number> =>
  new Promise((resolve) => {
    const { client } = showing(t, address);
    const { path, requestSerialize, responseDeserialize } = HealthService.watch;
    const watch = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {
      service: '',
    });
    watch.on('data', () => resolve(status.OK));
    watch.on('error', ({ code }: { code: number }) => resolve(code));
  });

test('a server listens on a socket that only its user may open, and on no port', async (t) => {
  const { internalApi } = await startConfiguredServer(t);
  t.is(internalApi.port, undefined);
  t.is(modeOf(internalApi.socketPath), 0o600);
  t.is(modeOf(dirname(internalApi.socketPath)), 0o700);
  t.throws(() => statSync(join(dirname(internalApi.socketPath), internalApiTokenFile)), { code: 'ENOENT' });
  const operator = showing(t, `unix:${internalApi.socketPath}`);
  t.is((await operator.ask(ClusterService.listNodes, page)).nodes.length, 1);
});

test('a port answers nothing without the token, and everything with it', async (t) => {
  const { internalApi } = await startConfiguredServer(t, { GRPC_PORT: '0' });
  const tokenFile = join(dirname(internalApi.socketPath), internalApiTokenFile);
  t.is(modeOf(tokenFile), 0o600);
  const token = readFileSync(tokenFile, 'utf8').trim();
  t.regex(token, /^[0-9a-f]{64}$/);
  const address = `127.0.0.1:${internalApi.port}`;
  const guesses = [undefined, '', 'Bearer ', token, `Bearer ${token.slice(1)}`, `Bearer ${'0'.repeat(64)}`];
  for (const guess of guesses) {
    const stranger = showing(t, address, guess);
    const drain = { node: 'main', allowLast: true };
    t.is((await stranger.failing(ClusterService.drainNode, drain)).code, status.UNAUTHENTICATED, guess);
    t.is((await stranger.failing(HealthService.check, { service: '' })).code, status.UNAUTHENTICATED, guess);
  }
  t.is(await watched(t, address), status.UNAUTHENTICATED);
  const operator = showing(t, address, `Bearer ${token}`);
  const { nodes } = await operator.ask(ClusterService.listNodes, page);
  t.is(nodes[0]?.state, NodeState.LIVE);
});
