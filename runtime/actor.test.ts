import test from 'ava';
import { z } from 'zod';
import { FakeClock, settled } from '../test/support/clock.ts';
import { startTestHost } from '../test/support/host.ts';
import { command, sharedRead } from './command.ts';
import { kind } from './kind.ts';
import type { Limits } from './limits.ts';
import { slice } from './slice.ts';
import { ModelDatabase, ModelStore, type Schedule } from './store/model.ts';
import { StoreError } from './store/store.ts';
import { table } from './table.ts';

const count = slice({ name: 'count', format: 1, schema: z.number(), initial: 0 });
const note = slice({ name: 'note', format: 1, schema: z.string(), initial: '' });
const slot = table({
  name: 'slot',
  columns: { owner: 'text', slot: 'int8', label: 'text' },
  key: ['owner', 'slot'],
  unique: [['label']],
});
const born = table({
  name: 'born',
  columns: { owner: 'text', name: 'text', birth: 'int8' },
  key: ['owner', 'name'],
  birth: 'birth',
});

const desk = kind({
  name: 'desk',
  slices: [count, note],
  tables: [slot, born],
  commands: {
    add: command({
      request: z.number(),
      reply: z.number(),
      creates: true,
      turn: (turn, by) => {
        turn.set(count, turn.get(count) + by);
        return turn.get(count);
      },
    }),
    peek: command({ request: z.null(), reply: z.number(), turn: (turn) => turn.get(count) }),
    durable: sharedRead({ request: z.null(), reply: z.number(), answer: (view) => view.get(count) }),
    write: command({
      request: z.string(),
      reply: z.number(),
      turn: (turn, text) => {
        turn.set(note, text);
        return turn.get(count);
      },
    }),
    label: command({
      request: z.object({ slot: z.number(), label: z.string() }),
      reply: z.string(),
      creates: true,
      turn: (turn, { slot: place, label }) => {
        if (turn.taken(slot, { label }) !== undefined) return 'taken';
        turn.insert(slot, { owner: turn.self.id, slot: place, label });
        return 'labelled';
      },
    }),
    bear: command({
      request: z.object({ name: z.string(), birth: z.number() }),
      reply: z.string(),
      creates: true,
      turn: (turn, { name, birth }) => {
        if (turn.taken(born, { owner: turn.self.id, name }) !== undefined) return 'taken';
        turn.insert(born, { owner: turn.self.id, name, birth });
        return 'born';
      },
    }),
  },
});

function start(schedule: Schedule, limits: Partial<Limits> = {}) {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  return startTestHost({
    kinds: [desk],
    clock,
    database,
    store: new ModelStore(database, schedule),
    limits,
  });
}

/** A gate before one operation of the store: closed, its calls wait. */
function gateBefore(operation: string) {
  const waiting: (() => void)[] = [];
  let closed = false;
  return {
    calls: 0,
    close() {
      closed = true;
    },
    open() {
      closed = false;
      for (const go of waiting.splice(0)) go();
    },
    async pass(name: string): Promise<void> {
      await undefined;
      if (name !== operation) return;
      this.calls += 1;
      if (closed) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

test('what comes while a lost commit is settled is answered once that turns out committed', async (t) => {
  const barrier = gateBefore('barrier');
  let lose = false;
  const { actors } = await start(async (operation, apply) => {
    await barrier.pass(operation);
    const result = apply();
    if (!lose || operation !== 'commit') return result;
    lose = false;
    throw new StoreError('unknown', 'the connection was lost');
  });
  const a = actors.get(desk, 'a').ask;
  await a.add(1);
  lose = true;
  barrier.close();
  const answers: number[] = [];
  void a.add(1).then((value) => answers.push(value));
  await settled();
  void a.peek(null).then((value) => answers.push(value));
  void a.add(1).then((value) => answers.push(value));
  await settled();
  t.deepEqual(answers, []);
  barrier.open();
  await settled();
  t.deepEqual(answers, [2, 2, 3]);
});
