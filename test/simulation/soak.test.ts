/**
 * Nothing grows for ever. Anonymous clients try addresses, accounts come and go, registrations are refused, nodes
 * with ever new names start and end, and calls are recorded. The pace stays the same for many times the lifetime of
 * any row, and every table must level off.
 */
import test from 'ava';
import type { SignInReply } from '../../actors/identity/session.ts';
import { kinds } from '../../actors/kinds.ts';
import type { Answer } from '../../actors/reply.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { Account } from '../../actors/user/account/contract.ts';
import { defaultLimits } from '../../runtime/host/limits.ts';
import { FakeClock } from '../kit/clock.ts';
import { startTestHost, type TestHost, testNode } from '../kit/host.ts';
import { signinKeys, simulatedSettings, tokens } from './domain.ts';

const hourMs = 3_600_000;
const device = { userAgent: 'soak', ipAddress: null, snjsVersion: null, applicationVersion: null };
const limits = { ...defaultLimits, endedActorMs: 2 * hourMs, goneNodeMs: 3 * hourMs };
/** The part of each hour. */
const strangers = 8;
const visitors = 3;

async function hour(host: TestHost, number: number): Promise<void> {
  for (let index = 0; index < strangers; index += 1) {
    const stranger = { email: `stranger-${number}-${index}@example.org`, workspace: '' };
    const id = signinKeys.actorId(stranger);
    await done(
      host,
      host.actors.get(Signin, id).ask.loginParams({ ...stranger, codeChallenge: 'c', device }),
    );
  }
  for (let index = 0; index < visitors; index += 1) {
    const email = `visitor-${number}-${index}@example.org`;
    const reply = await register(host, email);
    if (!('ok' in reply)) throw new Error('the registration was refused');
    await register(host, email);
    await leave(host, reply.ok);
  }
  const node = testNode(host.random, `pod-${number}`);
  await host.store.register(node, 1_000);
  await host.store.leave(node.id, node.incarnation);
  await host.clock.advance(hourMs);
}

function register(host: TestHost, email: string): Promise<Answer<SignInReply>> {
  const keyParams = { pw_nonce: 'nonce', version: '004' };
  const { ask } = host.actors.get(Account, host.random.uuid());
  const request = { email, workspace: '', password: 'secret', keyParams, device };
  return done(host, ask.register({ ...request, apiVersion: '20200115', ephemeral: false }));
}

async function leave(host: TestHost, { user, ...granted }: SignInReply): Promise<void> {
  const credentials = 'session' in granted ? tokens.verify(granted.session.access_token) : undefined;
  if (credentials === undefined) throw new Error('the token is not one');
  const { ask } = host.actors.get(Account, user.uuid);
  await done(host, ask.deleteAccount({ credentials, userUuid: user.uuid, password: 'secret' }));
}

/** Commits and timers need time to pass. */
async function done<T>(host: TestHost, pending: Promise<T>): Promise<T> {
  let isDone = false;
  const answered = pending.finally(() => {
    isDone = true;
  });
  while (!isDone) await host.clock.advance(20);
  return answered;
}

test('every table levels off, whatever comes and goes', async (t) => {
  const clock = new FakeClock();
  const provided = simulatedSettings(5_184_000_000, 1_000_000);
  const host = await startTestHost({ kinds, provided, clock, limits, leaseMs: hourMs });
  const sizes: ReadonlyMap<string, number>[] = [];
  for (let number = 0; number < 24; number += 1) {
    await hour(host, number);
    sizes.push(host.database.sizes);
  }
  const greatest = (table: string, from: number, to: number) =>
    Math.max(...sizes.slice(from, to).map((size) => size.get(table) ?? 0));
  for (const table of host.database.sizes.keys()) {
    t.true(greatest(table, 16, 24) <= greatest(table, 8, 16), `${table} goes on growing`);
    t.log(`${table}: ${sizes.map((size) => size.get(table) ?? 0).join(' ')}`);
  }
  // Rows came and went in each of the relevant tables.
  for (const table of ['actor', 'slice', 'node', 'call', 'timer', 'account'])
    t.true(host.database.sizes.has(table));
  host.host.abandon();
});
