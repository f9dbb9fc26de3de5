/**
 * Switches and reminders fall due while the node that sends all mail is killed, paused and drained, again and again.
 * None is lost or early, and none comes after its owner stopped it in time. Only mail that was in flight then comes
 * twice. `DELIVERY_SECONDS` runs it for longer than CI does.
 */
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { mailerId } from '../../actors/mailer/contract.ts';
import { shardOf } from '../../runtime/address.ts';
import { register } from '../kit/account.ts';
import { Device } from '../kit/device.ts';
import type { Answer } from '../kit/http.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { SeededRandom } from '../kit/random.ts';
import { type ReceivedMessage, startSmtpServer } from '../kit/smtp-server.ts';
import { until } from '../kit/until.ts';
import { buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

const leaseMs = 3_000;
const shardCount = 1_024;
const seconds = Number(process.env['DELIVERY_SECONDS'] ?? 30);
const ownersCount = 4;
/** The mails in flight at any time. */
const workers = 4;
/** The mailer moves, another node takes over its jobs, and the outbox is swept. */
const arrivalMs = 60_000;

const random = new SeededRandom(20_261_122);
const between = (leastMs: number, mostMs: number) =>
  leastMs + Math.floor(random.fraction() * (mostMs - leastMs));

interface Promised {
  readonly name: string;
  readonly dueMs: number;
  readonly uuid: string;
  /** Its owner tried to stop it, and the answer came in time. */
  fate: 'owed' | 'unknown' | 'stopped';
}

/** A user whose calls may meet unavailable nodes: unanswered calls are neither repeated nor counted. */
class Owner {
  readonly promised: Promised[] = [];
  readonly #device: Device;
  readonly #gateways: readonly string[];
  readonly #name: string;
  #count = 0;

  constructor(device: Device, gateways: readonly string[], name: string) {
    this.#device = device;
    this.#gateways = gateways;
    this.#name = name;
  }

  async work(untilMs: number): Promise<void> {
    while (Date.now() < untilMs) {
      const drawn = random.fraction();
      if (drawn < 0.45) await this.#makeSwitch();
      else if (drawn < 0.8) await this.#makeReminder();
      else await this.#checkIn();
      await pause(between(100, 500));
    }
  }

  async #makeSwitch(): Promise<void> {
    const name = this.#nextName('switch');
    const deadline = Date.now() + between(1_000, 15_000);
    const body = { recipientEmail: `${name}@others.test`, shareUrl: 'https://notes.test/#key', deadline };
    const made = await this.#call('POST', '/v1/dead-man-switches', body);
    if (made?.status === 200) this.#promise(name, deadline, made.body.deadManSwitch.uuid);
  }

  async #makeReminder(): Promise<void> {
    const name = this.#nextName('reminder');
    const dueAt = Date.now() + between(500, 12_000);
    const made = await this.#call('POST', '/v1/email-reminders', { dueAt, message: name });
    if (made?.status === 200) this.#promise(name, dueAt, made.body.emailReminder.uuid);
  }

  async #checkIn(): Promise<void> {
    const armed = this.promised.filter(({ name, fate }) => name.includes('switch') && fate === 'owed');
    const one = armed.length === 0 ? undefined : random.pick(armed);
    if (one === undefined) return;
    one.fate = 'unknown';
    const answer = await this.#call('POST', `/v1/dead-man-switches/${one.uuid}/check-in`);
    if (answer?.status === 200 && Date.now() < one.dueMs) one.fate = 'stopped';
  }

  #promise(name: string, dueMs: number, uuid: string): void {
    this.promised.push({ name, dueMs, uuid, fate: 'owed' });
  }

  async #call(method: string, path: string, body?: object): Promise<Answer | undefined> {
    const device = new Device({ url: random.pick(this.#gateways) }, this.#device.account);
    return Promise.race([
      device.call(method, path, body && { body }).catch(() => undefined),
      pause(8_000, undefined),
    ]);
  }

  #nextName(what: string): string {
    this.#count += 1;
    return `${this.#name}-${what}-${this.#count}`;
  }
}

/** The node that sends all mail. */
async function sender(cluster: Cluster): Promise<ClusterNode | undefined> {
  const shard = shardOf({ kind: 'mailer', id: mailerId }, shardCount);
  const [row] = await cluster.database.query(`SELECT node FROM shard WHERE shard = ${shard}`);
  return cluster.nodes.find(({ id }) => id === row?.['node']);
}

const disturbances: readonly ((node: ClusterNode) => Promise<void>)[] = [
  async (node) => {
    await node.kill();
    await node.start();
  },
  async (node) => {
    node.pause();
    await pause(2 * leaseMs);
    node.resume();
  },
  async (node) => {
    await node.drain();
    await node.start();
  },
];

async function disturb(cluster: Cluster, untilMs: number): Promise<number> {
  for (let done = 0; ; done += 1) {
    await pause(3_000);
    if (Date.now() >= untilMs) return done;
    const node = await sender(cluster);
    if (node !== undefined) await disturbances[done % disturbances.length]?.(node);
  }
}

async function start(t: ExecutionContext) {
  const smtp = await startSmtpServer(t);
  const cluster = await Cluster.start({
    builds: await buildTwice('deliveries'),
    leaseMs,
    nats: [await startNatsServer()],
    settings: {
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(smtp.port),
      SMTP_FROM: 'notes@notes.test',
      MAILS_TO_OTHERS_PER_DAY: '0',
      EMAIL_REMINDERS_ENABLED: 'true',
      MAX_EMAIL_REMINDERS_PER_USER: '1000',
    },
  });
  t.teardown(() => cluster.stop());
  const { gateways } = cluster;
  const owners: Owner[] = [];
  for (let index = 0; index < ownersCount; index += 1) {
    const name = `owner${index}`;
    const server = { url: gateways[0] ?? '' };
    const device = new Device(server, await register(server, { email: `${name}@notes.test` }));
    const path = `/v1/users/${device.account.userUuid}/settings`;
    const body = { name: 'EMAIL_REMINDERS_ENABLED', value: 'true' };
    t.is((await device.call('PUT', path, { body })).status, 200);
    owners.push(new Owner(device, gateways, name));
  }
  return { smtp, cluster, owners };
}

/** The owner's name for it; undefined for notices. */
function nameOf({ recipients, text }: ReceivedMessage): string | undefined {
  const [, reminder] = /^Subject: Reminder: (\S+)/m.exec(text) ?? [];
  const [, name] = /^(\S+-switch-\d+)@/.exec(recipients[0] ?? '') ?? [];
  return reminder ?? name;
}

const idOf = ({ text }: ReceivedMessage): string => /^Message-ID: (\S+)/im.exec(text)?.[1] ?? '';

test('nodes die, pause and leave while mails fall due: each arrives once, or twice from the window', async (t) => {
  t.timeout(480_000 + seconds * 1_000);
  const { smtp, cluster, owners } = await start(t);
  const untilMs = Date.now() + seconds * 1_000;
  const [disturbed] = await Promise.all([
    disturb(cluster, untilMs),
    ...owners.map((owner) => owner.work(untilMs)),
  ]);
  const promised = owners.flatMap((owner) => owner.promised);
  const arrived = () => new Set(smtp.received.map(nameOf));
  const isMissing = ({ name, fate }: Promised) => fate === 'owed' && !arrived().has(name);
  await until(() => Date.now() > untilMs + 16_000 && !promised.some(isMissing), arrivalMs).catch(() => {});
  t.deepEqual(promised.filter(isMissing), []);
  for (const { name, dueMs, fate } of promised) {
    const mails = smtp.received.filter((mail) => nameOf(mail) === name);
    if (fate === 'stopped') t.deepEqual(mails, [], name);
    for (const { atMs } of mails) t.true(atMs >= dueMs, `${name} came ${dueMs - atMs} ms early`);
    t.true(new Set(mails.map(idOf)).size <= 1, name);
  }
  const ids = smtp.received.map(idOf);
  const repeats = ids.length - new Set(ids).size;
  const stopped = promised.filter(({ fate }) => fate === 'stopped').length;
  t.log(`${disturbed} disturbances, ${ids.length} mails, ${repeats} twice, ${stopped} stopped in time`);
  t.true(repeats <= disturbed * workers);
  t.true(disturbed >= disturbances.length && promised.length > 50 && stopped > 0);
  const notices = smtp.received.filter((mail) => nameOf(mail) === undefined).map(idOf);
  t.is(new Set(notices).size, notices.length, 'a notice never comes twice');
});
