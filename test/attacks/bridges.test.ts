/** A stolen bridge token: what it can reach, and what ends it. */
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import type { SignedInShape } from '../../actors/signed-in.ts';
import { user, userParts } from '../../actors/user/user.ts';
import { challengeOf, headerSessions, signIn, statusOf, tokensOf } from '../kit/account.ts';
import { Device } from '../kit/device.ts';
import { sampleOf } from '../kit/samples.ts';
import { sessionTokens, startServer } from '../kit/server.ts';

const tokens = '/v1/mcp-tokens';

async function withBridge(t: ExecutionContext) {
  const server = await startServer(t);
  const phone = await server.device();
  const make = async (scope: 'read' | 'write') => {
    const body = { label: 'b', scope, wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
    const { token, mcpToken } = (await phone.call('POST', tokens, { body })).body;
    const authenticate = () => server.call('POST', `${tokens}/authenticate`, { body: { token } });
    const bridge = new Device(server, { ...phone.account, ...tokensOf(await authenticate()) });
    return { authenticate, bridge, mcpToken };
  };
  const { authenticate, bridge, mcpToken } = await make('write');
  const change = (fields: object = {}) => {
    const { userUuid, password } = phone.account;
    const body = { current_password: password, new_password: 'c'.repeat(64), pw_nonce: 'd', ...fields };
    return phone.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
      body: { api: headerSessions, ...body },
    });
  };
  return { server, phone, bridge, authenticate, change, mcpToken, make };
}

/**
 * All commands that write and are closed to bridges. A new command that writes joins this list or is opened to
 * bridges.
 */
const closedToBridges: Readonly<Record<string, readonly string[]>> = {
  credentials: ['changeCredentials', 'makeRecoveryCodes'],
  factors: [
    ...['offerTotpSecret', 'offerAuthenticator', 'addAuthenticator', 'removeAuthenticator'],
    ...['resolveApproval', 'switchEmailedCodes', 'trustDevice', 'distrustDevice'],
  ],
  tokens: [
    ...['makeAppPassword', 'deleteAppPassword', 'makeBridgeToken', 'deleteBridgeToken'],
    ...['makeSubscriptionToken', 'makeCalendarToken', 'revokeCalendarToken', 'revokeCalendarTokens'],
  ],
  sessions: ['deleteSession', 'deleteOtherSessions'],
  deletion: ['deleteAccount', 'deleteRevision', 'deleteVault'],
  administration: [
    ...['setRegistration', 'setBan', 'setFlag', 'setMailRelays', 'testMail', 'retryMail', 'discardMail'],
    ...['startPairing', 'completePairing', 'unpair', 'unpairAll'],
  ],
};

test('a bridge that may write does what the account may, but for what protects it', async (t) => {
  const { server, bridge, make } = await withBridge(t);
  t.is((await bridge.save()).saved_items.length, 1);
  const { bridge: reader } = await make('read');
  const { userUuid } = bridge.account;
  const asks = server.host.actors.get(user, userUuid).ask as unknown as Record<string, Ask>;
  const ask = async (device: Device, name: string, fields: object) =>
    (await asks[name]?.({ ...fields, credentials: sessionTokens.verify(device.account.access), userUuid }))
      ?.refused;
  const isClosed = (refused: Awaited<ReturnType<typeof ask>>) =>
    refused?.reason === 'forbidden' && refused.message === closedMessage;
  const closed: string[] = [];
  const refusedByState: string[] = [];
  const shapes = userParts.flatMap(({ contract }) => Object.entries(contract.commands)) as unknown as [
    string,
    SignedInShape<unknown, unknown>,
  ][];
  for (const [name, { access, fields }] of shapes.filter(([, { access }]) => access !== undefined)) {
    for (const request of requestsOf(fields)) {
      const ofReader = await ask(reader, name, request);
      t.not(ofReader?.reason, 'unauthenticated', name);
      if (access === 'writes') t.is(ofReader?.tag, 'read-only-access', name);
      else if (ofReader?.tag === 'read-only-access') refusedByState.push(name);
      if (isClosed(await ask(bridge, name, request)) && !closed.includes(name)) closed.push(name);
    }
  }
  t.deepEqual(closed.toSorted(), Object.values(closedToBridges).flat().toSorted());
  t.deepEqual(refusedByState, [
    ...Array.from({ length: 2 }, () => 'mintValetToken'),
    ...Array.from({ length: 3 }, () => 'mintVaultValetToken'),
  ]);
});

const closedMessage = 'A bridge may not do this. Please use an app that is signed in.';

test('a bridge sets no setting that protects the account, and removes none', async (t) => {
  const { bridge } = await withBridge(t);
  const { userUuid } = bridge.account;
  const path = `/v1/users/${userUuid}/settings`;
  const put = async (name: string, value: string, to = path) =>
    (await bridge.call('PUT', to, { body: { name, value } })).status;
  t.is(await put('MUTE_MARKETING_EMAILS', 'muted'), 200);
  t.is((await bridge.call('DELETE', `${path}/MUTE_MARKETING_EMAILS`)).status, 200);
  for (const [name, value] of [
    ['MFA_SECRET', 'x'],
    ['ACCOUNT_RECOVERY_ESCROW', '{"version":2}'],
    ['LOG_SESSION_USER_AGENT', 'disabled'],
    ['MUTE_SIGN_IN_EMAILS', 'muted'],
    ['DROPBOX_BACKUP_TOKEN', 'x'],
  ] as const) {
    t.is(await put(name, value), 403, name);
    const removed = await bridge.call('DELETE', `${path}/${name}`, { headers: { 'x-server-password': 'x' } });
    t.is(removed.status, 403, name);
  }
  const subscription = `/v1/users/${userUuid}/subscription-settings`;
  t.is(await put('MUTE_SIGN_IN_EMAILS', 'muted', subscription), 403);
});

test('a bridge that may write makes shares, switches on reminders and vaults, and uploads', async (t) => {
  const { bridge } = await withBridge(t);
  const vault = await bridge.call('POST', '/v1/shared-vaults');
  t.is(vault.status, 200, vault.text);
  const resources = [{ remoteIdentifier: crypto.randomUUID(), unencryptedFileSize: 5 }];
  const token = await bridge.call('POST', '/v1/files/valet-tokens', {
    body: { operation: 'write', resources },
  });
  t.is(token.status, 200, token.text);
  const encryptedPayload = JSON.stringify({ v: 1, nonce: '0'.repeat(48), ciphertext: 'aaaa' });
  const share = await bridge.call('POST', '/v1/shares', { body: { type: 'note', encryptedPayload } });
  t.is(share.status, 200, share.text);
});

type Ask = (
  request: object,
) => Promise<{ refused?: { reason: string; message: string; tag?: string | undefined } }>;

/** The possible requests of a command: the smallest valid one, with each choice that its fields leave. */
function requestsOf(fields: z.ZodType): readonly object[] {
  const schema = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' });
  const least = sampleOf(schema) as object;
  const choices = Object.entries(schema.properties ?? {}).flatMap(([field, choice]) =>
    typeof choice === 'object' ? (choice.enum ?? []).map((value) => ({ ...least, [field]: value })) : [],
  );
  return choices.length > 0 ? choices : [least];
}

test('a bridge that knows the password is asked for the second factor like anybody', async (t) => {
  const { server, phone, bridge } = await withBridge(t);
  const { email, password } = phone.account;
  const body = { email, code_challenge: challengeOf('mine') };
  const params = await bridge.call('POST', '/v2/login-params', { body });
  t.is(params.status, 200);
  const login = { email, password, code_verifier: 'mine', api: headerSessions };
  t.is((await server.call('POST', '/v2/login', { body: login })).status, 401);
});

test('a change of the password ends bridge tokens and the sessions they have opened', async (t) => {
  const { server, bridge, authenticate, change } = await withBridge(t);
  const changed = await change();
  t.is(changed.status, 200);
  const again = await authenticate();
  t.deepEqual([again.status, again.body.error.message], [401, 'Invalid MCP token']);
  t.is(await statusOf(server, bridge.account), '401 invalid-auth');
  const { access, cookie } = tokensOf(changed);
  const listed = await server.call('GET', tokens, { bearer: access, cookie });
  t.deepEqual(listed.body, { mcpTokens: [] });
});

test('so does a change of the address alone, and one that changes nothing', async (t) => {
  for (const fields of [{ new_email: 'alice@other.example' }, {}]) {
    const { server, phone, bridge, authenticate, change } = await withBridge(t);
    t.is((await change({ new_password: phone.account.password, ...fields })).status, 200);
    t.is((await authenticate()).status, 401);
    t.is(await statusOf(server, bridge.account), '401 invalid-auth');
  }
});

test('an app password outlives a change of the password, and still replaces only the second factor', async (t) => {
  const { server, phone, change } = await withBridge(t);
  const app = await phone.call('POST', '/v1/app-passwords', { body: { label: 'program' } });
  const { password: app_password } = app.body;
  t.is((await change()).status, 200);
  const { email, password } = phone.account;
  t.is((await signIn(server, { email, password, app_password })).status, 401);
  t.is((await signIn(server, { email, password: 'c'.repeat(64), app_password })).status, 200);
});
