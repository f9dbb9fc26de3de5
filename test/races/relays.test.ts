/**
 * Two administrators replace the list of relays at once, each at a separate gateway, while the host dies or a reply
 * is lost.
 *
 * The stored list is one of the two, whole. An administrator who gets a 200 was the one to replace it at that moment.
 * A relay only ever sees a credential that was given for it. An omitted credential is kept, also if the relay moves.
 */
import { isDeepStrictEqual } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { mailerId } from '../../actors/mailer/contract.ts';
import { mailAuditTable } from '../../actors/mailer/log-table.ts';
import { alice } from '../kit/account.ts';
import { atEveryCommit, Death } from '../kit/death.ts';
import { Device } from '../kit/device.ts';
import type { Answer } from '../kit/http.ts';
import { Postbox } from '../kit/postbox.ts';
import { startServer } from '../kit/server.ts';

const path = '/v1/admin/email-delivery/relays';
const from = 'notes@home.test';
const before = { id: 'one', kind: 'smtp', name: 'as it was', from, host: 'old.test', username: 'server' };
const withOld = { ...before, credentials: { password: 'the old word' } };
const added = { id: 'two', kind: 'postmark', name: 'added', from, credentials: { apiKey: 'a-key' } };
/** All credentials that a relay may see: those given for it, wherever it is. */
const expectedCredential = /^(the (old|new) word to (old|new|attacker)\.test|a-key to postmark)$/;

interface Pair {
  readonly what: string;
  readonly one: readonly object[];
  readonly other: readonly object[];
}

const pairs: readonly Pair[] = [
  {
    what: 'one moves the relay with a new credential, the other renames it where it was',
    one: [{ ...before, name: 'moved', host: 'new.test', credentials: { password: 'the new word' } }],
    other: [{ ...before, name: 'renamed' }],
  },
  {
    what: 'one takes the relay off the list, the other moves it elsewhere without a credential',
    one: [],
    other: [{ ...before, name: 'stolen', host: 'attacker.test' }],
  },
  {
    what: 'one gives the relay a new place, the other moves it to a third without a credential',
    one: [{ ...before, name: 'moved', host: 'new.test', credentials: { password: 'the new word' } }],
    other: [{ ...before, name: 'stolen', host: 'attacker.test' }],
  },
  {
    what: 'both keep the relay, and one adds another',
    one: [{ ...before, name: 'renamed' }],
    other: [before, added],
  },
];

async function startScene(t: ExecutionContext) {
  const death = new Death();
  const postbox = new Postbox();
  const received: string[] = [];
  postbox.answer = ({ relay, credential }) => {
    received.push(`${credential ?? 'nothing'} to ${relay.kind === 'smtp' ? relay.host : relay.kind}`);
    return undefined;
  };
  const accounts = { adminEmails: new Set([alice.email]) };
  const server = await startServer(t, { accounts, mailSender: postbox, host: { schedule: death.schedule } });
  const here = await server.device();
  const there = new Device(await server.another({}), (await server.device()).account);
  t.is((await server.answered(insist(here, [withOld]))).status, 200);
  return { death, server, here, there, received };
}
type Scene = Awaited<ReturnType<typeof startScene>>;

/** Like clients while the server is unavailable. */
async function insist(admin: Device, relays: readonly object[]): Promise<Answer> {
  const body = { relays, fallbackPolicy: { mode: 'next-enabled' } };
  for (;;) {
    const answer = await admin.call('PUT', path, { body });
    if (answer.status !== 503) return answer;
  }
}

/** How often the list was replaced, according to the audit. */
async function replacements({ server }: Scene): Promise<number> {
  const keys = [1, 2, 3, 4, 5].map((position) => ({ mailer: mailerId, position }));
  const [found] = await server.host.store.read([{ read: 'keys', table: mailAuditTable, keys }]);
  return (found?.rows ?? []).filter((row) => row['operation'] === 'replace-relays').length;
}

async function holds(t: ExecutionContext, scene: Scene, answers: readonly Answer[], where: string) {
  const { server, here, there, received } = scene;
  const isRefusal = ({ status, body }: Answer) =>
    status === 400 && body.error.tag === 'relay-credentials-required';
  t.true(
    answers.every((each) => each.status === 200 || isRefusal(each)),
    where,
  );
  const now = await server.answered(here.call('GET', path));
  t.deepEqual((await server.answered(there.call('GET', path))).body, now.body, where);
  const stored = answers.filter(({ status }) => status === 200).map(({ body }) => body);
  t.true(
    stored.some((each) => isDeepStrictEqual(each, now.body)),
    where,
  );
  t.is(await replacements(scene), 1 + stored.length, `${where}: whoever was overruled is in the audit`);
  for (const { id } of now.body.relays) {
    const body = { recipient: 'bob@example.test', relayId: id };
    await server.answered(here.call('POST', '/v1/admin/email-delivery/test', { body }), 30_000);
  }
  t.is(received.length, now.body.relays.length, where);
  t.deepEqual(
    received.filter((each) => !each.startsWith('nothing') && !expectedCredential.test(each)),
    [],
    where,
  );
}

for (const { what, one, other } of pairs) {
  test(`${what}: either comes first, and the host dies around any commit`, async (t) => {
    t.timeout(120_000);
    const deaths = await atEveryCommit(async (commit, isApplied) => {
      const scene = await startScene(t);
      const { death, server, here, there } = scene;
      death.plan(commit, isApplied);
      const [first, second] = commit % 2 === 0 ? [other, one] : [one, other];
      const pending = [insist(here, first), insist(there, second)];
      const both = Promise.all(pending);
      let isOver = false;
      both.then(() => {
        isOver = true;
      });
      await server.until(() => isOver || death.isDead, 10_000);
      const { isDead } = death;
      death.over();
      if (isDead) await server.restart();
      const answers = await server.answered(both, 60_000);
      await holds(t, scene, answers, `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`);
      return isDead;
    });
    t.true(deaths >= 2, `${deaths}`);
  });

  test(`${what}: each comes first once, and its repeat undoes nothing`, async (t) => {
    for (const isReversed of [false, true]) {
      const scene = await startScene(t);
      const { server, here, there } = scene;
      const [first, second] = isReversed ? [other, one] : [one, other];
      const lost = server.transport.loseReplyTo('setRelays');
      const repeated = insist(here, first);
      await server.answered(lost);
      const later = await server.answered(insist(there, second));
      const answers = [await server.answered(repeated), later];
      await holds(t, scene, answers, `${isReversed}`);
      if (later.status !== 200) continue;
      const now = await server.answered(here.call('GET', path));
      t.deepEqual(now.body, later.body);
    }
  });
}
