/**
 * A stolen certificate of a gateway gives all rights at NATS, but not the root secret. Such a client hears the
 * messages between two nodes. It floods them, answers in their place, repeats messages and deletes JetStream's data.
 * Devices save meanwhile.
 */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import test, { type ExecutionContext } from 'ava';
import { encodeFrame } from '../../runtime/transport/nats/frame.ts';
import { type Builds, buildTwice } from '../cluster/build.ts';
import { check } from '../cluster/checker/checker.ts';
import { Cluster } from '../cluster/cluster.ts';
import { History } from '../cluster/history.ts';
import { Probe } from '../cluster/probe.ts';
import { failuresOf, percentile, Tally } from '../cluster/tally.ts';
import { Workload } from '../cluster/workload.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { until } from '../kit/until.ts';

const mebibyte = 1_024 * 1_024;
const rounds = 15;
const junkOfRound = 600;
const oversizedOfRound = 4;
/** For each kind of message. A repeated call runs again, at the same cost: for a sign-in, a hash of a password. */
const replaysOfRound = 60;
const savesOfRound = 3;
const memoryGrowthMax = 256 * mebibyte;
/** Longer than the deadlines of the server, which answers by then, with an error if need be. */
const answerMs = 30_000;

let builds: Builds;
test.before(async () => {
  builds = await buildTwice('hostile-broker-client');
});

test('a stranger with all rights at NATS delays saves, and neither loses, doubles nor breaks any', async (t) => {
  t.timeout(180_000);
  const nats = await startNatsServer();
  const attacker = await Attacker.start(t, nats.url);
  const cluster = await Cluster.start({ builds, leaseMs: 3_000, nodes: 2, nats: [nats] });
  t.teardown(() => cluster.stop());
  const { gateways, nodes } = cluster;
  const allReady = async () => (await Promise.all(nodes.map((node) => node.isReady()))).every(Boolean);
  await until(allReady);
  const probe = await Probe.open(gateways);
  t.true(attacker.heard('hint') > 0);
  t.true(attacker.heard('shard') > 0);

  const history = new History();
  const tally = new Tally();
  const load = { gateways, users: 3, devicesOfEach: 2, seed: 1, pauseMs: 30, timeoutMs: answerMs };
  const workload = new Workload({ ...load, history, tally });
  await workload.open();
  workload.start();
  t.teardown(() => workload.abandon());
  const saved = (count: number) => {
    const before = tally.acknowledgedWrites;
    return until(() => tally.acknowledgedWrites >= before + count, 60_000);
  };
  const beganMs = performance.now();
  await saved(100);
  const memory = () => Promise.all(nodes.map((node) => node.metric('process_resident_memory_bytes')));
  const memoryBefore = await memory();

  const attackedMs = performance.now();
  attacker.squat();
  for (let round = 0; round < rounds; round += 1) {
    await attacker.attack();
    await saved(savesOfRound);
  }
  const endedMs = performance.now();
  const memoryAfter = await memory();
  await attacker.leave();

  const times = (fromMs: number, toMs: number) => {
    const calls = tally.between(fromMs, toMs);
    const took = calls.map(({ durationMs }) => durationMs);
    const [middle, late] = [percentile(took, 0.5), percentile(took, 0.99)].map(Math.round);
    return `${calls.length} calls, median ${middle} ms, 99 % within ${late} ms, ${JSON.stringify(failuresOf(calls))}`;
  };
  t.log(`before: ${times(beganMs, attackedMs)}`);
  t.log(`for ${Math.round(endedMs - attackedMs)} ms of attack: ${times(attackedMs, endedMs)}`);
  t.log('sent', attacker.sent, 'MiB', memoryBefore.map(inMebibytes), memoryAfter.map(inMebibytes));
  for (const [index, bytes = 0] of memoryAfter.entries())
    t.true(bytes > 0 && bytes - (memoryBefore[index] ?? 0) < memoryGrowthMax);

  await until(allReady);
  t.not(await probe.servedByEach(gateways, 20_000), undefined);
  await until(async () => (await cluster.pendingTells()) === 0);
  const wakeUps = async () =>
    (await Promise.all(nodes.map((node) => node.readiness()))).map((it) => it['wakeups']);
  await until(async () => (await wakeUps()).every((state) => state === 'ok'), 60_000);
  await workload.finish();
  t.deepEqual(check(history.entries), []);
  t.deepEqual(cluster.endedByThemselves, []);
  // All got answers: acknowledged, or refused with 503 and sent again.
  const { 'no-answer': unanswered, 'not-reached': unreached } = failuresOf(tally.calls);
  t.deepEqual({ unanswered, unreached }, { unanswered: 0, unreached: 0 });
});

const inMebibytes = (bytes = 0): number => Math.round(bytes / mebibyte);

/** The most messages of each kind that it remembers. */
const heardMax = 2_000;
const junk = Buffer.from('no frame at all');
const nobody = headers(503, 'nobody');
/** Would make the server answer a save with 500. */
const forged = encodeFrame({ kind: 'refusal', class: 'terminal', message: 'forged' });

class Attacker {
  readonly sent = { junk: 0, oversized: 0, replays: 0, answers: 0, deletions: 0 };
  readonly #client: NatsConnection;
  readonly #oversized: Buffer;
  readonly #heard = new Map<string, Msg[]>();
  readonly #subjects = new Set<string>();
  #isSquatting = false;

  private constructor(client: NatsConnection) {
    this.#client = client;
    this.#oversized = Buffer.alloc(client.info?.max_payload ?? 0, 2);
    client.subscribe('scriptorium.>', { callback: (_, message) => this.#hear(message) });
  }

  static async start(t: ExecutionContext, url: string): Promise<Attacker> {
    const client = await connect({ servers: url.replace('nats://', ''), noEcho: true });
    t.teardown(() => client.close());
    const attacker = new Attacker(client);
    await client.flush();
    return attacker;
  }

  heard(what: string): number {
    return this.#heard.get(what)?.length ?? 0;
  }

  /** From now on it also answers each call, before the owner does. */
  squat(): void {
    this.#isSquatting = true;
  }

  async leave(): Promise<void> {
    this.#isSquatting = false;
    await this.#client.close();
  }

  /** One round, until NATS has taken it. */
  async attack(): Promise<void> {
    const subjects = [...this.#subjects];
    const subjectAt = (n: number) => subjects[n % subjects.length] ?? '';
    for (let n = 0; n < junkOfRound; n += 1) this.#client.publish(subjectAt(this.sent.junk++), junk);
    for (let n = 0; n < oversizedOfRound; n += 1)
      this.#client.publish(subjectAt(this.sent.oversized++), this.#oversized);
    for (const heard of this.#heard.values())
      for (const { subject, data, reply } of heard.slice(-replaysOfRound)) {
        this.#client.publish(subject, data, reply ? { reply } : undefined);
        this.sent.replays += 1;
      }
    await this.#client.flush();
    await this.#deleteAll();
  }

  async #deleteAll(): Promise<void> {
    const { streams, consumers } = await jetstreamManager(this.#client);
    for await (const { config } of streams.list()) {
      const isStream = this.sent.deletions++ % 2 === 0;
      const deletion = isStream ? streams.delete(config.name) : consumers.delete(config.name, 'hosts');
      // A node that recreates it may be quicker, or another round has deleted it.
      await deletion.catch(() => false);
    }
  }

  #hear(message: Msg): void {
    const { subject, reply } = message;
    const [, , , what = ''] = subject.split('.');
    const heard = this.#heard.get(what) ?? [];
    this.#heard.set(what, heard);
    heard.push(message);
    if (heard.length > heardMax) heard.shift();
    if (what !== 'reply' && what !== 'part') this.#subjects.add(subject);
    if (!this.#isSquatting || what !== 'shard' || !reply) return;
    this.sent.answers += 1;
    // The broker's own message about a missing listener has no signature, so the server believes it.
    if (this.sent.answers % 3 === 0) this.#client.publish(reply, undefined, { headers: nobody });
    else for (const answer of [forged, junk]) this.#client.publish(reply, answer);
  }
}
