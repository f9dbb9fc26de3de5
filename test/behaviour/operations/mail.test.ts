/** Mail for operators: with the command line, over the internal API, from the real mailer. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Mailer, mailerId } from '../../../actors/mailer/contract.ts';
import type { MailSource } from '../../../actors/mailer/sources.ts';
import { exitCodes } from '../../../cli/failure.ts';
import { startApi } from '../../kit/internal-api.ts';
import { bobsText, sealedMail } from '../../kit/mail.ts';
import { operate } from '../../kit/operator.ts';
import { mailTo, Postbox } from '../../kit/postbox.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';

const secret = 'a secret word';

async function start(t: ExecutionContext, mode: 'queue' | 'direct' = 'queue') {
  const postbox = new Postbox();
  const { mail, ...sender } = mailTo(postbox);
  const world = await startApi(t, { mail: { ...sender, mail: { ...mail, mode } } });
  const { server, log } = world;
  const directory = temporaryFolder(t);
  const said: string[] = [];
  return {
    postbox,
    log,
    said,
    async run(...args: readonly string[]) {
      const { code, out, err } = await operate(world, '--json', 'mail', ...args);
      said.push(out, err);
      return { code, err, answer: code === 0 ? JSON.parse(out) : undefined };
    },
    file(content: string): string {
      const path = join(directory, 'relays.json');
      writeFileSync(path, content);
      return path;
    },
    async queue(id: string, source: MailSource = 'other') {
      const pending = server.host.actors.get(Mailer, mailerId).ask.queue(sealedMail(id, source));
      await server.answered(pending);
      await server.advance(1_000);
    },
  };
}

const relay = {
  id: 'one',
  kind: 'smtp',
  from: '"Notes" <notes@home.test>',
  host: 'mail.example.test',
  username: 'server',
  credential: secret,
  perMinute: 30,
};

test('relays are set from a file, and shown without what they sign in with', async (t) => {
  const { run, file, said, log } = await start(t);
  t.deepEqual((await run('relays')).answer, { relays: [], fallback: 'next-enabled', configured: true });
  const set = await run('set-relays', file(JSON.stringify({ relays: [relay], fallback: 'none' })));
  t.deepEqual(set.answer, { relays: 1, configured: true });
  const { answer } = await run('relays');
  t.like(answer, { fallback: 'none', configured: true });
  const { credential: _, ...rest } = relay;
  t.like(answer.relays[0], { ...rest, enabled: true, port: 587, credentialsConfigured: true });
  // The printed list can be set again, and keeps its credential, also at another host.
  t.is((await run('set-relays', file(JSON.stringify(answer)))).code, 0);
  t.true((await run('relays')).answer.relays[0].credentialsConfigured);
  const moved = { relays: [{ ...rest, host: 'mail.elsewhere.test' }] };
  t.is((await run('set-relays', file(JSON.stringify(moved)))).code, 0);
  t.true((await run('relays')).answer.relays[0].credentialsConfigured);
  const { operations } = (await run('audit')).answer;
  t.like(operations[0], { actor: 'operator', operation: 'move-credentials', target: 'one' });
  t.is(new Date(operations[0].at).toISOString(), operations[0].at);
  const plain = { relays: [{ ...relay, security: 'none' }] };
  t.is((await run('set-relays', file(JSON.stringify(plain)))).code, exitCodes.usage);
  const allowed = { relays: [{ ...relay, security: 'none', plaintextCredentials: true }] };
  t.is((await run('set-relays', file(JSON.stringify(allowed)))).code, 0);
  t.like((await run('relays')).answer.relays[0], { security: 'none', plaintextCredentials: true });
  t.false([...said, JSON.stringify(log)].join().includes(secret));
});

test('an invalid list of relays is refused without showing any of it', async (t) => {
  const { run, file } = await start(t);
  for (const content of [`{"relays": [${secret}`, JSON.stringify({ relays: [{ ...relay, port: secret }] })]) {
    const { code, err } = await run('set-relays', file(content));
    t.is(code, exitCodes.usage);
    t.false(err.includes(secret));
  }
  t.is((await run('set-relays', '/nowhere.json')).code, exitCodes.usage);
});

test('a dead mail is listed, tried again and thrown away, and nobody is told what it says', async (t) => {
  const { run, queue, postbox, said, log } = await start(t);
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  await queue('mail:1');
  const { answer } = await run('queue');
  t.like(answer.mails, [{ id: 'mail:1', state: 'dead', attempts: 1, lastFailure: 'rejected' }]);
  t.like((await run('log')).answer.attempts, [{ mailId: 'mail:1', relayId: 'direct', failure: 'rejected' }]);
  t.is((await run('discard', 'mail:1')).code, exitCodes.refused);
  t.like((await run('retry', 'mail:1')).answer, { id: 'mail:1', state: 'ready', attempts: 0 });
  await queue('mail:2');
  t.is((await run('discard', 'mail:2', '--yes')).code, 0);
  t.regex((await run('discard', 'mail:2', '--yes')).err, /no such record/);
  t.regex((await run('retry', 'mail:2')).err, /no such record/);
  const all = [...said, JSON.stringify(log)].join();
  for (const hidden of ['bob@secret.test', 'Only for Bob', bobsText]) t.false(all.includes(hidden));
});

test('a test says whether the relay took it, and lists come in pages', async (t) => {
  const { run, queue, postbox } = await start(t);
  t.like((await run('test', 'me@home.test')).answer, { accepted: true, relayId: 'direct' });
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  t.is((await run('test', 'me@home.test')).code, exitCodes.refused);
  t.regex((await run('test', 'me@home.test', '--relay', 'none')).err, /no such relay/);
  t.regex((await run('test', 'me@home.test, you@home.test')).err, /one e-mail address/);
  await queue('mail:1');
  t.like((await run('queue', '--state', 'ready')).answer.mails, [{ id: 'mail:1', state: 'ready' }]);
  t.regex((await run('queue', '--state', 'any')).err, /ready, leased or dead/);
  t.regex((await run('queue', '--after', 'x')).err, /cursor/);
});

test('where mail goes by the settings alone, only the test is there', async (t) => {
  const { run } = await start(t, 'direct');
  t.is((await run('test', 'me@home.test')).code, 0);
  for (const line of [['relays'], ['queue'], ['log'], ['retry', 'a'], ['discard', 'a', '--yes']]) {
    const { code, err } = await run(...line);
    t.is(code, exitCodes.refused);
    t.regex(err, /by its settings alone/);
  }
});
