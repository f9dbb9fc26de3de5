/** A user who opts out is promised what a server can promise: nothing leaves that has not left. */
import test from 'ava';
import type { Commit } from '../../../runtime/store/store.ts';
import { startOfTimeMs } from '../process.ts';
import { SimulatedTime } from '../time.ts';
import type { Durable } from './durable.ts';
import { MessageChecker } from './messages.ts';

const name = 'note/1';
const dueMs = startOfTimeMs - 1;

/** What is reported of a message that begins after `stop`, while its reminder is stored in this state. */
function reportedOf(state: string, stop: (checker: MessageChecker) => void): readonly string[] {
  const reports: string[] = [];
  const stored = { state, round: 1, dueAtMs: dueMs };
  const durable = { slice: () => stored } as unknown as Durable;
  const report = (message: string) => reports.push(message);
  const checker = new MessageChecker({ report, durable, time: new SimulatedTime(), skewMs: 0 });
  const write = { table: { name: 'slice' }, put: { slice: 'published-reminder:note' } };
  const commit = { address: { kind: 'user', id: 'ada' }, writes: [write] } as unknown as Commit;
  checker.due(name, dueMs);
  const attempt = checker.attempted(`Reminder (due then): ${name}`);
  stored.state = 'in-flight';
  checker.committed(commit);
  stored.state = state;
  checker.committed(commit);
  stop(checker);
  checker.begun(attempt);
  return reports;
}

const stopped = [`${name} began although it was stopped`];

test('a message that was uncertain when its user opted out may begin if the user was told that it may have left', (t) => {
  t.deepEqual(
    reportedOf('uncertain', (checker) => checker.optedOut([name], true)),
    [],
  );
  t.deepEqual(
    reportedOf('uncertain', (checker) => checker.optedOut([name], false)),
    stopped,
  );
});

test('a message that was in flight when its user opted out must not begin, whatever else may have left', (t) => {
  t.deepEqual(
    reportedOf('in-flight', (checker) => checker.optedOut([name], true)),
    stopped,
  );
});

test('a message that was uncertain may begin after a later one has taken its place, but not after its deletion', (t) => {
  t.deepEqual(
    reportedOf('uncertain', (checker) => checker.replaced(name)),
    [],
  );
  t.deepEqual(
    reportedOf('in-flight', (checker) => checker.replaced(name)),
    stopped,
  );
  t.deepEqual(
    reportedOf('uncertain', (checker) => checker.stopped(name)),
    stopped,
  );
});
