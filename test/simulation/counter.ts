/**
 * The purpose-made kind: counters whose every effect carries the name of the call that caused it. So a doubled or
 * missing effect is visible from outside.
 */
import { z } from 'zod';
import type { Address } from '../../runtime/address.ts';
import {
  command,
  job,
  keys,
  range,
  sharedRead,
  type Turn,
  tell,
  timer,
  workflow,
} from '../../runtime/command.ts';
import { contract, keyed } from '../../runtime/contract.ts';
import { dependency } from '../../runtime/dependency.ts';
import { kind } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';
import { table } from '../../runtime/table.ts';

const balance = slice({ name: 'balance', format: 1, schema: z.number(), initial: 0 });
/** One entry per effect, in order: what happened, and to which call it belongs. */
const journal = slice<readonly string[]>({
  name: 'journal',
  format: 1,
  schema: z.array(z.string()),
  initial: [],
});
interface Alarm {
  readonly op: string;
  readonly dueMs: number;
}
const alarms = slice<Readonly<Record<string, Alarm>>>({
  name: 'alarms',
  format: 1,
  schema: z.record(z.string(), z.object({ op: z.string(), dueMs: z.number() })),
  initial: {},
});
interface SlowJob {
  /** The newest that was started under this name. */
  readonly op: string;
  /** The run that took its first step last. */
  readonly run?: string | undefined;
}
const slowJobs = slice<Readonly<Record<string, SlowJob>>>({
  name: 'slow-jobs',
  format: 1,
  schema: z.record(z.string(), z.object({ op: z.string(), run: z.string().optional() })),
  initial: {},
});
const tallyHead = slice({ name: 'tally-head', format: 1, schema: z.number(), initial: 0 });

export const tally = table({
  name: 'tally',
  columns: { owner: 'text', name: 'text', position: 'int8', born: 'int8', ops: 'text' },
  key: ['owner', 'name'],
  generation: 'born',
  order: 'position',
});
export const title = table({
  name: 'title',
  columns: { owner: 'text', name: 'text', born: 'int8', op: 'text' },
  key: ['owner', 'name'],
  generation: 'born',
  unique: [['name']],
});

export interface Reading {
  readonly balance: number;
  readonly journal: readonly string[];
  readonly head: number;
  readonly tallies: readonly { readonly name: string; readonly position: number; readonly ops: string }[];
}

/** The work of a job outside turns, and its observers. */
export interface SlowWork {
  began(self: Address, job: { readonly op: string; readonly to: string }): void;
  take(forMs: number): Promise<void>;
}
export const SlowWork = dependency<SlowWork>('slow work');

interface Trouble {
  /** The handler throws until then, by its host's clock. */
  readonly untilMs: number;
}

const op = z.object({ op: z.string() });
const named = op.extend({ name: z.string() });
const trouble = z.object({ untilMs: z.number() });

function note(turn: Turn, entry: string): void {
  turn.set(journal, [...turn.get(journal), entry]);
}

function failWhile({ untilMs }: Trouble, nowMs: number): void {
  if (nowMs < untilMs) throw new Error('in trouble');
}

function readingOf(
  view: Pick<Turn, 'get'>,
  rows: readonly { readonly name: string; readonly position: number; readonly ops: string }[],
): Reading {
  return {
    balance: view.get(balance),
    journal: view.get(journal),
    head: view.get(tallyHead),
    tallies: rows.map(({ name, position, ops }) => ({ name, position, ops })),
  };
}

const tallies = (view: Pick<Turn, 'get'>, after: number) => ({
  rows: range(tally, { after, through: view.get(tallyHead), limit: 100 }),
});

/** A step of a run. It is stale if another run of the job has begun since, or the job was stopped. */
function noteStep(turn: Turn, name: string, run: string, entry: string): void {
  if (turn.get(slowJobs)[name]?.run !== run) note(turn, `stale:${entry}`);
  else if (!turn.get(journal).includes(entry)) note(turn, entry);
}

const alarmSchema = named.extend({ dueMs: z.number(), trouble, again: z.number() });
const slowJobSchema = named.extend({ to: z.string(), workMs: z.number(), slow: trouble, trouble });
const jobTimeoutMs = 5_000;

const Counter = contract({
  name: 'counter',
  commands: { append: { request: op, reply: z.number() } },
  timers: { alarm: alarmSchema },
  tells: { credit: z.object({ op: z.string(), amount: z.number(), trouble }) },
  jobs: { slow: slowJobSchema, quick: named },
});

export const counterKind = kind({
  name: Counter.name,
  uses: [SlowWork],
  slices: [balance, journal, alarms, slowJobs, tallyHead],
  tables: [tally, title],
  commands: {
    append: command(Counter.commands.append, {
      creates: true,
      repeat: 'recorded',
      turn: (turn, { op }) => {
        note(turn, op);
        return turn.get(journal).length;
      },
    }),
    bump: command(
      { request: named, reply: z.string() },
      {
        creates: true,
        repeat: 'recorded',
        reads: (view, { name }) => ({ found: keys(tally, [{ owner: view.self.id, name }]) }),
        turn: (turn, { op, name }, { found }) => {
          const row = found.get({ owner: turn.self.id, name });
          const position = turn.get(tallyHead) + 1;
          const ops = row === undefined ? op : `${row.ops},${op}`;
          turn.set(tallyHead, position);
          turn.put(tally, { owner: turn.self.id, name, position, born: row?.born ?? position, ops });
          return ops;
        },
      },
    ),
    /** Names are unique among all counters. */
    take: command(
      { request: named, reply: z.object({ holder: z.string(), op: z.string() }) },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, { op, name }) => {
          const holder =
            turn.conflicting(title, { owner: turn.self.id, name }) ?? turn.conflicting(title, { name });
          if (holder !== undefined) return { holder: holder.owner, op: holder.op };
          note(turn, op);
          const born = turn.get(journal).length;
          turn.insert(title, { owner: turn.self.id, name, born, op });
          return { holder: turn.self.id, op };
        },
      },
    ),
    yieldName: command(
      { request: named, reply: z.boolean() },
      {
        creates: true,
        repeat: 'recorded',
        reads: (view, { name }) => ({ found: keys(title, [{ owner: view.self.id, name }]) }),
        turn: (turn, { op, name }, { found }) => {
          const key = { owner: turn.self.id, name };
          note(turn, op);
          if (found.get(key) === undefined) return false;
          turn.remove(title, key);
          return true;
        },
      },
    ),
    transfer: command(
      { request: op.extend({ to: z.string(), amount: z.number(), trouble }), reply: z.number() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, { op, to, amount, trouble }) => {
          note(turn, op);
          turn.set(balance, turn.get(balance) - amount);
          turn.tell(Counter, to).credit({ op, amount, trouble });
          return turn.get(balance);
        },
      },
    ),
    arm: command(
      { request: alarmSchema, reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, { op, name, dueMs, trouble, again }) => {
          note(turn, op);
          turn.set(alarms, { ...turn.get(alarms), [name]: { op, dueMs } });
          turn.arm(keyed(Counter.timers.alarm, name), dueMs, { op, name, dueMs, trouble, again });
          return null;
        },
      },
    ),
    disarm: command(
      { request: named, reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, { op, name }) => {
          note(turn, op);
          const { [name]: _, ...others } = turn.get(alarms);
          turn.set(alarms, others);
          turn.disarm(keyed(Counter.timers.alarm, name));
          return null;
        },
      },
    ),
    startSlowJob: command(
      { request: slowJobSchema, reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, request) => {
          const { op, name } = request;
          note(turn, op);
          turn.set(slowJobs, { ...turn.get(slowJobs), [name]: { ...turn.get(slowJobs)[name], op } });
          turn.start(keyed(Counter.jobs.slow, name), request);
          return null;
        },
      },
    ),
    /** A quick job, which must not wait for slow ones. */
    startQuickJob: command(
      { request: named, reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, { op, name }) => {
          note(turn, op);
          turn.start(keyed(Counter.jobs.quick, name), { op, name });
          return null;
        },
      },
    ),
    stopSlowJob: command(
      { request: named, reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, { op, name }) => {
          note(turn, op);
          const { [name]: _, ...others } = turn.get(slowJobs);
          turn.set(slowJobs, others);
          turn.stop(keyed(Counter.jobs.slow, name));
          return null;
        },
      },
    ),
    fail: command(
      { request: op, reply: z.null() },
      {
        creates: true,
        turn: (turn, { op }) => {
          note(turn, op);
          throw new Error('this turn fails');
        },
      },
    ),
    /** A value that no database accepts. */
    spoil: command(
      { request: op, reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, { op }) => {
          note(turn, op);
          const born = turn.get(journal).length;
          turn.insert(title, { owner: turn.self.id, name: `${op}\u0000`, born, op });
          return null;
        },
      },
    ),
    /** Two actors in one call. */
    relay: workflow(
      { request: op.extend({ to: z.string() }), reply: z.null() },
      {
        creates: true,
        run: async (steps, { op, to }) => {
          await steps.turn({ recorded: true, turn: (turn) => note(turn, op) });
          await steps.actors.get(Counter, to).ask.append({ op: `${op}.relayed` });
          return null;
        },
      },
    ),
    read: command(
      { request: z.object({ after: z.number() }), reply: z.custom<Reading>() },
      {
        creates: true,
        reads: (view, { after }) => tallies(view, after),
        turn: (turn, _request, { rows }) => readingOf(turn, rows.rows),
      },
    ),
    peek: sharedRead(
      { request: z.object({ after: z.number() }), reply: z.custom<Reading>() },
      {
        reads: (view, { after }) => tallies(view, after),
        answer: (view, _request, { rows }) => readingOf(view, rows.rows),
      },
    ),
  },
  timers: {
    alarm: timer(Counter.timers.alarm, (turn, { op, name, dueMs, trouble, again }) => {
      failWhile(trouble, turn.nowMs);
      const { [name]: armed, ...others } = turn.get(alarms);
      if (armed?.op !== op) return note(turn, `stray:${op}`);
      note(turn, `fired:${op}@${dueMs}`);
      if (again === 0) return turn.set(alarms, others);
      const next = { op: `${op}+`, name, dueMs: Math.ceil(turn.nowMs + 700), trouble, again: again - 1 };
      turn.set(alarms, { ...others, [name]: { op: next.op, dueMs: next.dueMs } });
      turn.arm(keyed(Counter.timers.alarm, name), next.dueMs, next);
    }),
  },
  tells: {
    credit: tell(Counter.tells.credit, {
      creates: true,
      turn: (turn, { op, amount, trouble }) => {
        failWhile(trouble, turn.nowMs);
        note(turn, `credit:${op}`);
        turn.set(balance, turn.get(balance) + amount);
      },
    }),
  },
  jobs: {
    quick: job(Counter.jobs.quick, {
      timeoutMs: jobTimeoutMs,
      run: (run, { op }) => run.finish({ turn: (turn) => note(turn, `ran:${op}`) }),
    }),
    slow: job(Counter.jobs.slow, {
      timeoutMs: jobTimeoutMs,
      run: async (run, { op, name, to, workMs, slow, trouble }) => {
        const work = run.use(SlowWork);
        work.began(run.self, { op, to });
        const runId = await run.turn({
          turn: (turn) => {
            const { [name]: started, ...others } = turn.get(slowJobs);
            if (started === undefined) note(turn, `stale:${op}`);
            const run = turn.random.uuid();
            turn.set(slowJobs, { ...others, [name]: { op: started?.op ?? op, run } });
            return run;
          },
        });
        await work.take(run.nowMs < slow.untilMs ? jobTimeoutMs + workMs : workMs);
        failWhile(trouble, run.nowMs);
        await run.turn({ turn: (turn) => noteStep(turn, name, runId, `loaded:${op}`) });
        await run.actors.get(Counter, to).ask.append({ op: `${op}.called` }, { callId: run.id });
        await work.take(workMs);
        return run.finish({
          turn: (turn) => {
            noteStep(turn, name, runId, `finished:${op}`);
            const { [name]: started, ...others } = turn.get(slowJobs);
            if (started?.op === op) turn.set(slowJobs, others);
          },
        });
      },
    }),
  },
});
