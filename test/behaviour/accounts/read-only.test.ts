/**
 * A session that may only read is refused every change. Both tests walk the declarations, so they also cover new ones. A new one
 * refuses, or is listed here with the reason why it need not.
 */
import test from 'ava';
import { user, userParts } from '../../../actors/user/user.ts';
import type { Answer } from '../../kit/http.ts';
import { sampleOf } from '../../kit/samples.ts';
import { startServer } from '../../kit/server.ts';

/** Commands that may take turns of their own, and are still open to sessions that may only read. */
const turnsOfReaders: Readonly<Record<string, string>> = {
  sync: 'gives what a reader may read; what it may not save is that item’s conflict',
  checkIntegrity: 'reads too much for one turn',
  holdSyncCommand: 'promises to wait for a command, in memory alone',
  getSyncCommand: 'has to see what is not durable yet',
  getItem: 'asks the vault that the item is in',
  listTodos: 'reads too much for one turn',
  keyParams: 'stores a challenge, for sessions that may write alone',
  getSetting: 'counts the passwords that are given for the recovery codes',
  listApprovals: 'asks the actor that has them',
  showApproval: 'asks the actor that has it',
  lookUpUser: 'asks the actor that it is about',
  getBan: 'asks the actor that it is about',
  getFlags: 'asks the actor that it is about',
  getDeliveryFlags: 'asks the mailer',
  getRegistration: 'asks the actor of the instance',
  getPairing: 'asks the actor of pairings',
  getPairingUsage: 'asks the actor of pairings',
  listPairings: 'asks the actor of pairings',
  listVaultMembers: 'asks the vault',
  listVaultInvites: 'asks the vault',
  listOutboundInvites: 'reads the invites after the vaults that they are to',
  getRevision: 'asks the vault that the item is in',
  listRevisions: 'asks the vault that the item is in',
  mintVaultValetToken: 'asks the vault; gives a reader a token that reads, and no other',
  listMailRelays: 'asks the mailer',
  listMailQueue: 'asks the mailer',
  listMailLog: 'asks the mailer',
  listMailAudit: 'asks the mailer',
};

/** Endpoints that change something, or are no GET, and are still open to sessions that may only read. */
const openToReaders: Readonly<Record<string, string>> = {
  'POST /v1/items': 'gives what a reader may read; what it may not save is that item’s conflict',
  'POST /v1/items/check-integrity': 'reads',
  'POST /v1/files/valet-tokens': 'gives a token that reads, and no other',
  'POST /v1/shared-vaults/{sharedVaultUuid}/valet-tokens': 'gives a token that reads, and no other',
  'POST /v1/logout': 'ends only the session itself',
  'POST /v2/login-params': 'is for those who are not signed in, and reads',
  'POST /v1/sockets/sync/ticket': 'opens a socket, over which saves are refused as over HTTP',
  'POST /v1/sockets/tokens': 'opens a socket, over which nothing is written',
};

test('a command that is not a shared read is declared to write', (t) => {
  const declared = userParts
    .flatMap(({ contract }) => Object.entries(contract.commands))
    .filter(([, shape]) => 'access' in shape);
  t.true(declared.length > 30);
  const readers = declared.filter(([, shape]) => 'access' in shape && shape.access === 'reads');
  const withTurns = readers.filter(([name]) => user.commands[name]?.type !== 'shared').map(([name]) => name);
  t.deepEqual(
    withTurns.toSorted(),
    Object.keys(turnsOfReaders).toSorted(),
    'declare what writes with `access: writes`, make it a shared read, or say in `turnsOfReaders` why it is neither',
  );
});

interface Operation {
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: object }>> };
}

test('an endpoint that changes something is refused to a session that may only read', async (t) => {
  const server = await startServer(t);
  const { account } = await server.device();
  await server.restart({ accounts: { readonlyUsers: new Set([account.email]) } });
  const { body } = await server.call('GET', '/v1/openapi.json');
  const open: string[] = [];
  for (const [template, operations] of Object.entries<Record<string, Operation>>(body.paths)) {
    for (const [lower, operation] of Object.entries(operations)) {
      const method = lower.toUpperCase();
      if (operation.security === undefined || method === 'GET' || method === 'HEAD') continue;
      const path = template.replace('{userUuid}', account.userUuid).replace(/\{\w+\}/g, crypto.randomUUID());
      const schema = operation.requestBody?.content['application/json']?.schema;
      // A session may end itself.
      const session = await server.device();
      const answer = await session.call(method, path, {
        headers: { 'x-server-password': account.password },
        ...(operation.requestBody !== undefined && { body: schema === undefined ? {} : sampleOf(schema) }),
      });
      if (!isRefused(answer)) open.push(`${method} ${template}`);
    }
  }
  t.deepEqual(
    open.toSorted(),
    Object.keys(openToReaders).toSorted(),
    'refuse it to sessions that may only read, or say in `openToReaders` why it need not be',
  );
});

const isRefused = ({ status, body }: Answer): boolean =>
  status === 403 && body.error.tag === 'read-only-access';
