/**
 * The memory of actors, by their own estimate and by the growth of the heap. The estimate decides which actors leave
 * memory, when a commit is full and how large a batch is. So it must be within 1.5 times of the truth; otherwise the
 * benchmark fails.
 *
 * node --expose-gc --import=tsx benchmarks/memory.ts
 */
import { z } from 'zod';
import { Actor } from '../runtime/actor/actor.ts';
import type { ActorEnvironment } from '../runtime/actor/environment.ts';
import { PendingCommit } from '../runtime/actor/gate.ts';
import { Rows } from '../runtime/actor/rows.ts';
import { systemClock } from '../runtime/clock.ts';
import { defaultLimits } from '../runtime/host/limits.ts';
import { noMetrics } from '../runtime/host/runtime-metrics.ts';
import { kind } from '../runtime/kind.ts';
import { systemRandom } from '../runtime/random.ts';
import { slice, sliceMap } from '../runtime/slice.ts';
import { encode } from '../runtime/store/encoding.ts';
import type { SliceRow, Store, TimerRow } from '../runtime/store/store.ts';
import { table } from '../runtime/table.ts';
import { printFigures } from './support/figures.ts';

const estimatedWithin = 1.5;
const { gc } = globalThis;
if (gc === undefined) throw new Error('start this with --expose-gc');

const text = (length: number) =>
  systemRandom
    .bytes(Math.ceil(length / 2))
    .toString('hex')
    .slice(0, length);

// --- the measured values ------------------------------------------------------------------------------------

const sessionSchema = z.object({
  uuid: z.string(),
  access: z.object({ hash: z.string(), expiresAtMs: z.number() }),
  refresh: z.object({ hash: z.string(), expiresAtMs: z.number() }),
  userAgent: z.string(),
  api: z.string(),
  isReadOnly: z.boolean(),
  createdAtMs: z.number(),
  usedAtMs: z.number(),
});
const sessions = sliceMap({ family: 'session', format: 1, schema: sessionSchema, entriesMax: 1_000 });
const document = slice({
  name: 'document',
  format: 1,
  schema: z.record(z.string(), z.string()),
  initial: {},
});
const list = slice({ name: 'list', format: 1, schema: z.array(z.number()), initial: [] });
const profile = slice({
  name: 'profile',
  format: 1,
  schema: z.object({ email: z.string(), head: z.number(), isAdmin: z.boolean() }),
  initial: { email: '', head: 0, isAdmin: false },
});

const holder = kind({ name: 'holder', slices: [sessions, document, list, profile], commands: {} });

const session = (): z.infer<typeof sessionSchema> => ({
  uuid: uuid(),
  access: { hash: text(64), expiresAtMs: 1_800_000_000_000 },
  refresh: { hash: text(64), expiresAtMs: 1_800_000_000_000 },
  userAgent: text(110),
  api: '20240226',
  isReadOnly: false,
  createdAtMs: 1_790_000_000_000,
  usedAtMs: 1_790_000_000_000,
});

const stored = (name: string, value: unknown): SliceRow => ({ slice: name, data: encode(1, value) });

const timerOf = (id: string, payloadBytes: number): TimerRow => ({
  kind: holder.name,
  id,
  name: `expire:${uuid()}`,
  shard: 7,
  due_at: 1_800_000_000_000,
  payload: encode(1, text(payloadBytes)),
  attempts: 0,
  dead: false,
});

/** One flat string, like a value from a database. */
const uuid = () => Buffer.from(systemRandom.uuid()).toString();
const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

interface State {
  readonly slices: readonly SliceRow[];
  readonly timers: readonly TimerRow[];
}

/** Activated actors and their contents. */
const states: Readonly<Record<string, (id: string) => State>> = {
  'a small profile': () => ({
    slices: [stored('profile', { email: 'alice@example.org', head: 7, isAdmin: false })],
    timers: [],
  }),
  'a hundred sessions': () => ({
    slices: many(100, () => stored(`session:${uuid()}`, session())),
    timers: [],
  }),
  'a large document': () => ({
    slices: [stored('document', Object.fromEntries(many(300, () => [text(20), text(180)])))],
    timers: [],
  }),
  'a list of ten thousand numbers': () => ({
    slices: [
      stored(
        'list',
        many(10_000, () => 1_790_000_000_000),
      ),
    ],
    timers: [],
  }),
  'two hundred timers': (id) => ({ slices: [], timers: many(200, () => timerOf(id, 40)) }),
};

const environmentOf = (state: (id: string) => State): ActorEnvironment => {
  const store: Pick<Store, 'activate' | 'slices' | 'timers'> = {
    activate: async () => ({ outcome: 'active', row: { epoch: 1, version: 1, commitId: null } }),
    slices: async ({ id }) => state(id).slices,
    timers: async ({ id }) => state(id).timers,
  };
  const ports = { clock: systemClock, random: systemRandom, limits: defaultLimits, metrics: noMetrics };
  // An actor that takes no turns needs nothing else.
  return { ...ports, kind: holder, store, shardCount: 1_024 } as unknown as ActorEnvironment;
};

async function activated(state: (id: string) => State): Promise<Actor> {
  const actor = new Actor({ kind: holder.name, id: uuid() }, 1, environmentOf(state));
  await actor.activate();
  if (actor.phase !== 'active') throw new Error('the actor is not active');
  return actor;
}

const item = table({
  name: 'item',
  columns: { owner: 'uuid', uuid: 'uuid', position: 'int8', content: 'text', key: 'text', kind: 'text' },
  key: ['owner', 'uuid'],
  order: 'position',
});
const rowOf = (bytes: number) => ({
  owner: uuid(),
  uuid: uuid(),
  position: 1_790_000_000_000,
  content: text(bytes),
  key: text(200),
  kind: 'Note',
});

function cachedRows(): { rows: Rows; bytes: number } {
  const rows = new Rows(defaultLimits.cachedRowBytesMax);
  const written = many(10, () => ({ table: item, key: uuid() }));
  for (const { key } of written) rows.overlay(item, key, rowOf(1_000), 1);
  rows.promote(written, 1);
  return {
    rows,
    get bytes() {
      return rows.cachedBytes;
    },
  };
}

/** A commit to which turns were added one after another. */
function pending(fill: (commit: PendingCommit) => void): PendingCommit {
  const commit = new PendingCommit(1);
  fill(commit);
  return commit;
}
const nothing = () => ({ slices: new Map(), rows: new Map(), timers: new Map(), tells: [], signals: [] });

const commits: Readonly<Record<string, () => PendingCommit>> = {
  'a commit of a hundred slices': () =>
    pending((commit) =>
      commit.add({
        ...nothing(),
        slices: new Map(many(100, () => [`session:${uuid()}`, { value: session(), format: 1 }])),
      }),
    ),
  'a commit of a large slice, written five times': () =>
    pending((commit) => {
      for (let turn = 0; turn < 5; turn += 1) {
        const value = Object.fromEntries(many(150, () => [text(20), text(180)]));
        commit.add({ ...nothing(), slices: new Map([['document', { value, format: 1 }]]) });
      }
    }),
  'a commit of two hundred timers': () =>
    pending((commit) =>
      commit.add({
        ...nothing(),
        timers: new Map(many(200, () => timerOf('x', 40)).map((timer) => [timer.name, timer])),
      }),
    ),
  'a commit of a hundred rows of 1 KB': () =>
    pending((commit) =>
      commit.add({
        ...nothing(),
        rows: new Map(
          many(100, () => {
            const put = rowOf(1_000);
            return [`item/${put.uuid}`, { key: put.uuid, write: { table: item, put, isNew: true } }] as const;
          }),
        ),
      }),
    ),
  'a commit of two hundred tells': () =>
    pending((commit) =>
      commit.add({
        ...nothing(),
        tells: many(200, () => ({
          tell_id: uuid(),
          target_kind: 'holder',
          target_id: uuid(),
          target_shard: 7,
          name: 'told',
          payload: encode(1, text(100)),
          sender_kind: 'holder',
          sender_id: uuid(),
          attempts: 0,
          retry_at: 1_790_000_000_000,
          dead: false,
        })),
      }),
    ),
};

// --- measuring ----------------------------------------------------------------------------------------------

function heldBytes(): number {
  gc?.();
  gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}

interface Measured {
  readonly takenBytes: number;
  readonly estimatedBytes: number;
}

/** The bytes of one, as the average of many. */
async function measured<T>(make: () => T | Promise<T>, bytesOf: (made: T) => number): Promise<Measured> {
  const first = await make();
  const count = 120;
  const made: T[] = [first];
  const before = heldBytes();
  for (let at = 1; at < count; at += 1) made.push(await make());
  const takenBytes = (heldBytes() - before) / (count - 1);
  return {
    takenBytes,
    estimatedBytes: made.slice(1).reduce((sum, one) => sum + bytesOf(one), 0) / (count - 1),
  };
}

const wrong: string[] = [];
function report(what: string, { takenBytes, estimatedBytes }: Measured): void {
  const ratio = estimatedBytes / takenBytes;
  printFigures(what, {
    'bytes taken': takenBytes,
    'bytes by the estimate': estimatedBytes,
    'estimate/taken': ratio,
  });
  if (ratio > estimatedWithin || ratio < 1 / estimatedWithin) wrong.push(what);
}

for (const [what, state] of Object.entries(states))
  report(
    `an actor with ${what}`,
    await measured(
      () => activated(state),
      (actor) => actor.heldBytes,
    ),
  );
report('ten cached rows of 1 KB', await measured(cachedRows, ({ bytes }) => bytes));
for (const [what, make] of Object.entries(commits)) report(what, await measured(make, ({ bytes }) => bytes));

if (wrong.length > 0) {
  console.error(`\nnot within ${estimatedWithin} times: ${wrong.join('; ')}`);
  process.exitCode = 1;
}
