import test from 'ava';
import { CommandFailure } from '../../failure.ts';
import { RefusedError } from '../../http-client.ts';
import { type AskServer, signIn } from './sign-in.ts';

const email = 'ada@example.org';
const credentials = { email, password: 'correct horse battery staple', acceptsOldProtocol: false };
const keyParams = { identifier: email, version: '004', pw_nonce: 'b'.repeat(64) };
const userUuid = crypto.randomUUID();
const answer = { session: { access_token: 'token' }, user: { uuid: userUuid } };
const prompt = { askSecret: async () => '' };

const signInAt = (params: object, login: object) => {
  const asked: string[] = [];
  const ask: AskServer = async (_method, path) => {
    asked.push(path);
    return path === '/v2/login-params' ? params : login;
  };
  return { asked, signedIn: signIn(ask, credentials, prompt) };
};

test('an address is the same in any case, and if the server does not repeat it', async (t) => {
  for (const identifier of [email, ' Ada@Example.org', undefined]) {
    const { userUuid: uuid, keyParams: received } = await signInAt({ ...keyParams, identifier }, answer)
      .signedIn;
    t.is(uuid, userUuid);
    t.is(received.identifier, identifier ?? email);
  }
});

test('a server that names another address is told no password', async (t) => {
  const { asked, signedIn } = signInAt({ ...keyParams, identifier: 'ben@example.org' }, answer);
  const refused = await t.throwsAsync(signedIn);
  t.true(refused instanceof CommandFailure);
  t.regex(refused?.message ?? '', /answers for ben@example\.org/);
  t.deepEqual(asked, ['/v2/login-params']);
});

test('without a code of the second factor, the server is not asked again, and counts no wrong one', async (t) => {
  const asked: string[] = [];
  const ask: AskServer = async (method, path) => {
    asked.push(path);
    throw new RefusedError(`${method} ${path}`, 401, { tag: 'mfa-required', message: 'Enter your code.' });
  };
  const refused = await t.throwsAsync(signIn(ask, credentials, prompt), { instanceOf: CommandFailure });
  t.regex(refused?.message ?? '', /^No code was given/);
  t.deepEqual(asked, ['/v2/login-params']);
});

for (const [name, login] of Object.entries({
  'no user': { session: answer.session },
  'a user without a uuid': { ...answer, user: {} },
  'no session': { user: answer.user },
})) {
  test(`a sign-in that is answered with ${name} is refused`, async (t) => {
    const refused = await t.throwsAsync(signInAt(keyParams, login).signedIn);
    t.true(refused instanceof CommandFailure);
    t.regex(refused?.message ?? '', /nothing that apps understand/);
  });
}
