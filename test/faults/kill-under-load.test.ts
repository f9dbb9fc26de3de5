/**
 * Kill -9 under load, ten times in a row. No acknowledged save is lost, none is doubled, and nothing is torn. A
 * repeat of an unanswered request succeeds, and a device that continues from its token misses nothing.
 *
 * Devices write until the server dies. The test records, from nothing but the answers, what each sent and what was
 * acknowledged. After every start it compares that with a first sync.
 */
import test, { type ExecutionContext } from 'ava';
import type { FullItem } from '../../actors/collection/item-fields.ts';
import type { ModernSyncReply, SyncRequest } from '../../actors/collection/sync-contract.ts';
import { type Account, registerStranger } from '../kit/account.ts';
import { build, dataDirectoryOf, started } from '../kit/built-server.ts';
import { accepted, Device } from '../kit/device.ts';
import { note } from '../kit/items.ts';
import { SeededRandom } from '../kit/random.ts';
import { isAlive, postmasterOf } from '../kit/server-process.ts';
import { until } from '../kit/until.ts';

const kills = 10;
const users = 4;
const devicesOfEach = 2;
const savesBeforeKill = 150;
const settings = { E2E_TESTING: 'true' };

interface Written {
  /** Sent texts that may have been stored; the stored one must be among them. */
  readonly possible: Set<string>;
  /** How many of this item's saves were acknowledged. */
  acknowledged: number;
  /** The base for the next edit: the version and text acknowledged last. */
  version: number;
}

interface User {
  readonly account: Account;
  readonly items: Map<string, Written>;
  /** Built from one device's syncs alone, over all the kills. */
  readonly replica: Map<string, string>;
  replicaToken: string | undefined;
}

const sync = async (url: string, account: Account, body: Partial<SyncRequest>): Promise<ModernSyncReply> =>
  accepted(await new Device({ url }, account).send(body));

test.before(build);

test.serial('killed ten times under load, it keeps every acknowledged save once and whole', async (t) => {
  t.timeout(600_000);
  const random = new SeededRandom(20_261_120);
  const directory = dataDirectoryOf(t);
  let server = await started(t, { directory, settings });
  const everybody = await Promise.all(Array.from({ length: users }, () => newUser(server.url)));
  let acknowledged = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const saved = { count: 0 };
    const writing = everybody.flatMap((user) =>
      Array.from({ length: devicesOfEach }, () => writeUntilDead(t, server.url, user, random, saved)),
    );
    await until(() => saved.count >= savesBeforeKill);
    // Every other time the database dies with it.
    if (kill % 2 === 0) await endDatabase(directory);
    process.kill(-(server.child.pid ?? 0), 'SIGKILL');
    const unanswered = await Promise.all(writing);
    await server.exitCode;
    acknowledged += saved.count;
    server = await started(t, { directory, settings });
    for (const { user, body } of unanswered.flatMap((each) => each ?? []))
      await repeat(t, server.url, user, body);
    for (const user of everybody) await verify(t, server.url, user);
  }
  t.true(acknowledged >= kills * savesBeforeKill);
  t.log(`${acknowledged} acknowledged saves over ${kills} kills`);
  server.child.kill('SIGTERM');
  t.is(await server.exitCode, 0);
});

async function newUser(url: string): Promise<User> {
  return {
    account: await registerStranger({ url }),
    items: new Map(),
    replica: new Map(),
    replicaToken: undefined,
  };
}

async function endDatabase(directory: string): Promise<void> {
  const pid = postmasterOf(directory) ?? 0;
  process.kill(-pid, 'SIGKILL');
  await until(() => !isAlive(pid));
}

interface Unanswered {
  readonly user: User;
  readonly body: { readonly items: readonly { readonly uuid: string; readonly content: string }[] };
}

/** One device: new items and edits, one after another. Resolves to the unanswered call, if there was one. */
async function writeUntilDead(
  t: ExecutionContext,
  url: string,
  user: User,
  random: SeededRandom,
  saved: { count: number },
): Promise<Unanswered | undefined> {
  const own: string[] = [];
  for (let turn = 0; ; turn += 1) {
    const edited = own.length > 0 && random.chance(0.5) ? random.pick(own) : undefined;
    const uuid = edited ?? random.uuid();
    const written = user.items.get(uuid) ?? { possible: new Set(), acknowledged: 0, version: 0 };
    const content = `${uuid} text ${turn} ${random.uuid()} ${'x'.repeat(random.below(2_000))}`;
    const item = { ...note({ uuid, updated_at_timestamp: written.version }), uuid, content };
    const body = { items: [item] };
    written.possible.add(content);
    user.items.set(uuid, written);
    let reply: ModernSyncReply;
    try {
      reply = await sync(url, user.account, body);
    } catch (error) {
      // While the database is unavailable the server says so; such an answer acknowledges nothing.
      if (/refused with 503/.test(String(error))) return { user, body };
      t.regex(String(error), /fetch failed|terminated|other side closed|ECONN/);
      return { user, body };
    }
    t.deepEqual(reply.conflicts, []);
    acknowledge(written, content, reply);
    saved.count += 1;
    if (edited === undefined) own.push(uuid);
  }
}

function acknowledge(written: Written, content: string, reply: ModernSyncReply): void {
  written.possible.clear();
  written.possible.add(content);
  written.acknowledged += 1;
  written.version = reply.saved_items[0]?.updated_at_timestamp ?? 0;
}

/** A client sends unanswered requests again. The repeat succeeds, whether the first one had been saved or not. */
async function repeat(t: ExecutionContext, url: string, user: User, body: Unanswered['body']): Promise<void> {
  const reply = await sync(url, user.account, body);
  t.deepEqual(reply.conflicts, []);
  const [item] = body.items;
  const written = item === undefined ? undefined : user.items.get(item.uuid);
  if (item !== undefined && written !== undefined) acknowledge(written, item.content, reply);
}

async function verify(t: ExecutionContext, url: string, user: User): Promise<void> {
  const stored = new Map<string, string>();
  for (const item of await allSince(url, user, undefined)) {
    t.false(stored.has(item.uuid), 'an item comes once');
    stored.set(item.uuid, item.content ?? '');
  }
  for (const [uuid, { possible, acknowledged }] of user.items) {
    const content = stored.get(uuid);
    if (acknowledged > 0) t.truthy(content, 'an acknowledged item is there');
    if (content !== undefined) t.true(possible.has(content), 'its text is one that was sent, whole');
  }
  t.true([...stored.keys()].every((uuid) => user.items.has(uuid)));
  for (const item of await allSince(url, user, user.replicaToken, true))
    user.replica.set(item.uuid, item.content ?? '');
  t.deepEqual(new Map([...user.replica].sort()), new Map([...stored].sort()));
}

async function allSince(url: string, user: User, token: string | undefined, keep = false) {
  const items: FullItem[] = [];
  let at: { sync_token?: string | undefined; cursor_token?: string | undefined } = { sync_token: token };
  do {
    const reply = await sync(url, user.account, at);
    items.push(...reply.retrieved_items);
    at = { sync_token: reply.sync_token, cursor_token: reply.cursor_token };
  } while (at.cursor_token !== undefined);
  if (keep) user.replicaToken = at.sync_token;
  return items;
}
