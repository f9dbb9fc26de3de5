/** The standard health service, fed by readiness. */
import { ChannelCredentials, status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import {
  type HealthCheckResponse,
  HealthClient,
  HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../../proto/generated/grpc/health/v1/health.ts';
import { type ApiWorld, callerOf, startApi } from '../../kit/internal-api.ts';

test('the process and its services serve while it is ready, and each check has a status of its own', async (t) => {
  const world = await startApi(t);
  const { ask, failing } = callerOf(t, world.address);
  const statusOf = async (service: string) => (await ask(HealthService.check, { service })).status;
  t.is(await statusOf(''), ServingStatus.SERVING);
  t.is(await statusOf('scriptorium.v1.Sessions'), ServingStatus.SERVING);
  world.checks['database'] = 'failed';
  t.is(await statusOf(''), ServingStatus.NOT_SERVING);
  t.is(await statusOf('scriptorium.v1.Users'), ServingStatus.NOT_SERVING);
  t.is(await statusOf('database'), ServingStatus.NOT_SERVING);
  t.is(await statusOf('host'), ServingStatus.SERVING);
  t.is((await failing(HealthService.check, { service: 'unknown' })).code, status.NOT_FOUND);
  const { statuses } = await ask(HealthService.list, {});
  t.deepEqual(Object.keys(statuses).toSorted(), [
    '',
    'database',
    'host',
    'scriptorium.v1.Cluster',
    'scriptorium.v1.Mail',
    'scriptorium.v1.Pairing',
    'scriptorium.v1.Registration',
    'scriptorium.v1.Sessions',
    'scriptorium.v1.Users',
  ]);
});

/** The statuses that a watcher of a service received, as they come. */
function watch(t: ExecutionContext, { address }: ApiWorld, service: string) {
  const client = new HealthClient(address, ChannelCredentials.createInsecure());
  const call = client.watch({ service });
  const waiting: ((status: string) => void)[] = [];
  const statuses: string[] = [];
  const tell = (text: string) => {
    const next = waiting.shift();
    if (next === undefined) statuses.push(text);
    else next(text);
  };
  call.on('data', (response: HealthCheckResponse) => tell(response.status));
  call.on('error', (error) => tell(`error ${(error as { code?: number }).code}`));
  call.on('end', () => tell('end'));
  t.teardown(() => {
    call.cancel();
    client.close();
  });
  const next = (): Promise<string> => {
    const first = statuses.shift();
    return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
  };
  return { next, cancel: () => call.cancel() };
}

test('a watcher gets the current state, every change, and the end', async (t) => {
  const world = await startApi(t);
  const watcher = watch(t, world, '');
  t.is(await watcher.next(), ServingStatus.SERVING);
  world.checks['host'] = 'failed';
  t.is(await watcher.next(), ServingStatus.NOT_SERVING);
  world.checks['host'] = 'ok';
  t.is(await watcher.next(), ServingStatus.SERVING);
  await world.api.close();
  t.is(await watcher.next(), ServingStatus.NOT_SERVING);
  t.is(await watcher.next(), 'end');
});

test('a watcher of a service that is not there waits for it', async (t) => {
  const world = await startApi(t);
  const watcher = watch(t, world, 'transport');
  t.is(await watcher.next(), ServingStatus.SERVICE_UNKNOWN);
  world.checks['transport'] = 'ok';
  t.is(await watcher.next(), ServingStatus.SERVING);
});

test('watchers are bounded, and one that left makes room', async (t) => {
  const world = await startApi(t);
  const watchers = Array.from({ length: 100 }, () => watch(t, world, ''));
  for (const watcher of watchers) t.is(await watcher.next(), ServingStatus.SERVING);
  t.is(await watch(t, world, '').next(), `error ${status.RESOURCE_EXHAUSTED}`);
  watchers[0]?.cancel();
  let answer = '';
  for (let tries = 0; answer !== ServingStatus.SERVING && tries < 1_000; tries += 1) {
    answer = await watch(t, world, '').next();
  }
  t.is(answer, ServingStatus.SERVING);
});
