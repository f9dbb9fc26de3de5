import test from 'ava';
import { z } from 'zod';
import { TestCluster } from '../../test/kit/cluster.ts';
import { sleep } from '../clock.ts';
import { command, type Turn, tell, timer } from '../command.ts';
import { contract } from '../contract.ts';
import { MovedError, NotFoundError, TerminalError } from '../errors.ts';
import { kind } from '../kind.ts';
import { slice } from '../slice.ts';
import { encode } from '../store/encoding.ts';
import { StoreError, type TellRow } from '../store/store.ts';
import { outboxTable } from '../store/tables.ts';
import { hostCommands } from './host-commands.ts';

const notes = slice({ name: 'notes', format: 1, schema: z.array(z.string()), initial: [] });
const Diary = contract({ name: 'diary', timers: { remind: z.string() }, tells: { note: z.string() } });

/** Its timers and tells fail as long as `failing` says so. */
const diaryThatFails = (failing: { isFailing: boolean }) => {
  const note = (turn: Turn, text: string) => {
    if (failing.isFailing) throw new Error('this turn fails');
    turn.set(notes, [...turn.get(notes), text]);
  };
  return kind({
    name: Diary.name,
    slices: [notes],
    commands: {
      read: command({ request: z.null(), reply: z.array(z.string()) }, (turn) => turn.get(notes)),
      write: command(
        { request: z.string(), reply: z.null() },
        {
          creates: true,
          turn: (turn, text) => {
            turn.set(notes, [...turn.get(notes), text]);
            return null;
          },
        },
      ),
      remind: command(
        { request: z.object({ inMs: z.number(), text: z.string() }), reply: z.null() },
        {
          creates: true,
          turn: (turn, { inMs, text }) => {
            turn.arm(Diary.timers.remind, turn.nowMs + inMs, text);
            return null;
          },
        },
      ),
      send: command(
        { request: z.object({ to: z.string(), text: z.string() }), reply: z.null() },
        {
          creates: true,
          repeat: 'recorded',
          turn: (turn, { to, text }) => {
            turn.tell(Diary, to).note(text);
            return null;
          },
        },
      ),
    },
    timers: { remind: timer(Diary.timers.remind, note) },
    tells: { note: tell(Diary.tells.note, { creates: true, turn: note }) },
  });
};

async function start() {
  const failing = { isFailing: false };
  const diary = diaryThatFails(failing);
  const made = new TestCluster({ kinds: [diary], limits: { attemptsMax: 2 } });
  const node = await made.join('a');
  const of = (id: string) => made.actors.get(diary, id).ask;
  const operations = (id: string) => made.actors.get({ name: 'diary', commands: hostCommands }, id).ask;
  return { made, node, failing, of, operations };
}

const address = (id: string) => ({ kind: 'diary', id });
const deadTell = { target_kind: 'diary', target_id: 'x', tell_id: '5f0c1b9e-0000-4000-8000-000000000001' };

/** A tell in the outbox, as a commit of its sender has left it. */
function plantTell(made: TestCluster, overrides: Partial<TellRow> = {}): string {
  const row: TellRow = {
    ...deadTell,
    target_shard: made.network.shardOf({ address: address('x') }),
    name: 'note',
    payload: encode(1, 'told'),
    sender_kind: 'diary',
    sender_id: 'y',
    sender_version: 1,
    attempts: 0,
    retry_at: made.database.timeMs() + 1e9,
    dead: false,
    ...overrides,
  };
  const sender = { kind: 'diary', id: 'sender' };
  made.database.activate(sender, 0, true);
  const commitId = '00000000-0000-4000-8000-000000000000';
  const writes = [{ table: outboxTable, put: { ...row }, isNew: true }];
  made.database.commit([{ address: sender, epoch: 0, version: 0, commitId, writes }]);
  return row.tell_id;
}

test('an actor is described in every phase, where it is and what it waits for', async (t) => {
  const { made, node, of, operations } = await start();
  const inspect = () => made.until(operations('x').$inspect(null));
  const absent = await inspect();
  t.like(absent, { node: 'a', phase: 'passive', waitsFor: 'nothing', version: undefined, waiting: 0 });
  await made.until(of('x').write('one'));
  t.like(await inspect(), {
    phase: 'active',
    waitsFor: 'nothing',
    version: 1,
    atGate: 0,
    epoch: absent.epoch,
  });
  await made.until(of('x').remind({ inMs: 1e6, text: 'later' }));
  t.like(await inspect(), { pendingTimers: 1, deadTimers: 0 });
  node.schedule = async (method, apply) => {
    if (method === 'commit' || method === 'activate') await sleep(made.clock, 1_000);
    return apply();
  };
  const written = of('x').write('two');
  await made.clock.advance(5);
  t.like(await inspect(), { phase: 'active', waitsFor: 'commit', atGate: 1 });
  await made.until(written);
  const other = of('y').write('first');
  await made.clock.advance(5);
  t.like(await made.until(operations('y').$inspect(null)), {
    phase: 'activating',
    waitsFor: 'activation',
    waiting: 1,
  });
  await made.until(other);
  node.schedule = async (method, apply) => {
    if (method === 'commit') throw new StoreError('unknown', 'lost by the test');
    if (method === 'barrier') await sleep(made.clock, 1_000);
    return apply();
  };
  const lost = of('x').write('three');
  await made.clock.advance(5);
  t.like(await inspect(), { phase: 'settling', waitsFor: 'outcome' });
  node.schedule = async (_method, apply) => apply();
  await made.until(lost);
});

test('an idle actor is evicted and comes back whole; a busy or absent one is not evicted', async (t) => {
  const { made, node, of, operations } = await start();
  const evict = () => made.until(operations('x').$evict(null));
  t.false(await evict());
  await made.until(of('x').write('one'));
  node.schedule = async (method, apply) => {
    if (method === 'commit') await sleep(made.clock, 100);
    return apply();
  };
  const written = of('x').write('two');
  await made.clock.advance(5);
  t.false(await evict());
  await made.until(written);
  t.true(await evict());
  t.is(node.node.actorCount, 0);
  t.deepEqual(await made.until(of('x').read(null)), ['one', 'two']);
});

test('a wake-up delivers the tell it names, once; of one that is gone it says that it is done with', async (t) => {
  const { made, of, operations } = await start();
  const tellId = plantTell(made);
  t.is(await made.until(operations('x').$deliver({ tellId })), null);
  t.deepEqual(await made.until(of('x').read(null)), ['told']);
  t.is(await made.until(operations('x').$deliver({ tellId })), null);
  t.deepEqual(await made.until(of('x').read(null)), ['told']);
  t.is(made.database.backlog().pendingTells, 0);
});

test('two wake-ups for one tell at once deliver it once', async (t) => {
  const { made, of, operations } = await start();
  const tellId = plantTell(made);
  const both = [operations('x').$deliver({ tellId }), operations('x').$deliver({ tellId })];
  await made.until(Promise.all(both));
  t.deepEqual(await made.until(of('x').read(null)), ['told']);
});

test('a dead timer that is tried again runs, and one that is not dead or not there is left alone', async (t) => {
  const { made, failing, of, operations } = await start();
  failing.isFailing = true;
  await made.until(of('x').remind({ inMs: 0, text: 'in the end' }));
  t.false(await made.until(operations('x').$reviveTimer({ name: 'remind' })));
  await made.clock.advance(60_000);
  t.is(made.database.backlog().deadTimers, 1);
  t.is((await made.until(operations('x').$inspect(null))).deadTimers, 1);
  failing.isFailing = false;
  await made.clock.advance(60_000);
  t.deepEqual(await made.until(of('x').read(null)), []);
  t.false(await made.until(operations('x').$reviveTimer({ name: 'another' })));
  t.true(await made.until(operations('x').$reviveTimer({ name: 'remind' })));
  await made.clock.advance(100);
  t.deepEqual(await made.until(of('x').read(null)), ['in the end']);
  t.false(await made.until(operations('x').$reviveTimer({ name: 'remind' })));
});

test('a timer that is tried again and fails again is dead again, after as many attempts', async (t) => {
  const { made, failing, of, operations } = await start();
  failing.isFailing = true;
  await made.until(of('x').remind({ inMs: 0, text: 'never' }));
  await made.clock.advance(60_000);
  t.true(await made.until(operations('x').$reviveTimer({ name: 'remind' })));
  t.is(made.database.backlog().deadTimers, 0);
  await made.clock.advance(60_000);
  t.is(made.database.backlog().deadTimers, 1);
});

test('a dead tell that is tried again is delivered, and one that is not dead or not there is left alone', async (t) => {
  const { made, failing, of, operations } = await start();
  failing.isFailing = true;
  await made.until(of('y').send({ to: 'x', text: 'in the end' }));
  await made.clock.advance(60_000);
  const [dead] = made.database.deadTells(1);
  const tellId = dead?.tell_id ?? '';
  failing.isFailing = false;
  t.is(await made.until(operations('x').$deliver({ tellId })), null);
  t.is(made.database.backlog().deadTells, 1);
  t.true(await made.until(operations('x').$reviveTell({ tellId })));
  t.false(await made.until(operations('x').$reviveTell({ tellId })));
  await made.clock.advance(10_000);
  t.deepEqual(await made.until(of('x').read(null)), ['in the end']);
  t.false(await made.until(operations('x').$reviveTell({ tellId })));
});

test('many actors of one shard are asked by one message, each as if it were asked alone', async (t) => {
  const { made, of, operations } = await start();
  // Hints of the start would have the message sent again.
  await made.clock.advance(100);
  const shard = made.network.shardOf({ address: address('x') });
  const ids = Array.from({ length: 200 }, (_, at) => `actor ${at}`).filter(
    (id) => made.network.shardOf({ address: address(id) }) === shard,
  );
  const [first, second] = ids as [string, string];
  const ask = (id: string, command: string, request: unknown) => ({
    ...{ kind: 'diary', id, command, request, callId: made.random.uuid() },
  });
  const { replies } = await made.until(
    operations('x').$askMany({
      asks: [
        ask(first, 'write', 'one'),
        ask(second, 'read', null),
        ask(second, 'write', 5),
        ask(first, '$inspect', null),
        ask(first, 'unknown', null),
      ],
    }),
  );
  t.deepEqual(replies, [{ value: null }, null, null, null, null]);
  t.deepEqual(await made.until(of(first).read(null)), ['one']);
});

test('commands of operators are rejected where they do not fit, and create no actor', async (t) => {
  const { made, node, operations } = await start();
  const misfit = operations('x').$deliver({ tellId: 'no uuid' });
  await t.throwsAsync(made.until(misfit), { instanceOf: TerminalError });
  const absent = operations('nobody').$reviveTimer({ name: 'remind' });
  await t.throwsAsync(made.until(absent), { instanceOf: NotFoundError });
  t.is(made.database.head(address('nobody')), undefined);
  await made.until(node.node.drain(1_000));
  const deadlineMs = made.clock.monotonicMs() + 100;
  const call = { address: address('x'), command: '$inspect', request: null, callId: 'one', deadlineMs };
  t.is(node.transport.handler, undefined);
  await t.throwsAsync(made.until(node.transport.ask(call)), { instanceOf: MovedError });
});

test('a host ranks the actors that it has in memory, whatever address it is asked by', async (t) => {
  const { made, of, operations } = await start();
  const top = (by: 'bytes' | 'turns' | 'waiting', limit = 9) =>
    made.until(operations('nobody').$top({ by, limit }));
  t.deepEqual(await top('bytes'), { node: 'a', actors: [] });
  await made.until(of('large').write('x'.repeat(10_000)));
  for (const text of ['one', 'two', 'three']) await made.until(of('busy').write(text));
  const idsBy = async (by: 'bytes' | 'turns') => (await top(by)).actors.map(({ id }) => id);
  t.deepEqual(await idsBy('bytes'), ['large', 'busy']);
  t.deepEqual(await idsBy('turns'), ['busy', 'large']);
  const [busiest, ...others] = (await top('turns', 1)).actors;
  t.like(busiest, { kind: 'diary', id: 'busy', turns: 3, version: 3, waiting: 0 });
  t.deepEqual(others, []);
});
