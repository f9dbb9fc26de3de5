/** TLS and mutual TLS of the internal API. */

import { readFileSync } from 'node:fs';
import { ChannelCredentials, status } from '@grpc/grpc-js';
import test from 'ava';
import { serverCredentials } from '../../../operations/access.ts';
import { ClusterService } from '../../../proto/generated/scriptorium/v1/cluster.ts';
import { type Authority, createAuthority, type Issued } from '../../kit/certificates.ts';
import { callerOf, startApi } from '../../kit/internal-api.ts';

const page = { pageSize: 0, pageToken: '' };
let ours: Authority;
let foreign: Authority;

test.before(() => {
  ours = createAuthority();
  foreign = createAuthority();
});
test.after.always(() => {
  ours?.remove();
  foreign?.remove();
});

const server = ({ cert, key }: Issued, clientCa?: string) =>
  serverCredentials({
    certificate: readFileSync(cert),
    key: readFileSync(key),
    clientCa: clientCa === undefined ? undefined : readFileSync(clientCa),
  });

const client = (ca: string, certificate?: Issued) =>
  certificate === undefined
    ? ChannelCredentials.createSsl(readFileSync(ca))
    : ChannelCredentials.createSsl(
        readFileSync(ca),
        readFileSync(certificate.key),
        readFileSync(certificate.cert),
      );

test('with a certificate the API speaks TLS to callers that trust it, and nothing else', async (t) => {
  const { address } = await startApi(t, { credentials: server(ours.issue('node.test')) });
  t.is((await callerOf(t, address, client(ours.ca)).ask(ClusterService.listNodes, page)).nodes.length, 1);
  const distrusting = callerOf(t, address, client(foreign.ca));
  t.is((await distrusting.failing(ClusterService.listNodes, page)).code, status.UNAVAILABLE);
  t.is((await callerOf(t, address).failing(ClusterService.listNodes, page)).code, status.UNAVAILABLE);
});

test('with mutual TLS a caller needs a certificate of the right authority', async (t) => {
  const { address } = await startApi(t, { credentials: server(ours.issue('mutual.test'), ours.ca) });
  const operator = callerOf(t, address, client(ours.ca, ours.issue('operator')));
  t.is((await operator.ask(ClusterService.listNodes, page)).nodes.length, 1);
  for (const credentials of [client(ours.ca), client(ours.ca, foreign.issue('intruder'))]) {
    const refused = await callerOf(t, address, credentials).failing(ClusterService.listNodes, page);
    t.is(refused.code, status.UNAVAILABLE);
  }
});

test('the key of another certificate, and files that hold no authority, are refused at the start', (t) => {
  const [one, other] = [ours.issue('one.test'), ours.issue('other.test')];
  t.throws(() => server({ cert: one.cert, key: other.key }));
  t.throws(() => server(one, one.key), { message: /holds no certificate/ });
});
