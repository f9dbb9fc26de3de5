import { AssertionError } from 'node:assert/strict';
import test, { type ExecutionContext } from 'ava';
import { startTestPostgres, type TestPostgres } from '../../test/kit/postgres.ts';
import { contract } from '../../test/store/contract.ts';
import { modelSubject } from '../../test/store/model-subject.ts';
import { postgresSubject } from '../../test/store/postgres-subject.ts';
import type { Subject } from '../../test/store/subject.ts';
import { VersionBlindDatabase, wrongVariants } from '../../test/store/variants.ts';
import { StoreError } from './store.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

/** Every variant passes this one: each is wrong in what it says and otherwise works. */
const ordinary = 'every column comes back as it was written';

async function outcome(clauseName: string, open: () => Promise<Subject>): Promise<unknown> {
  const clause = contract.find(({ name }) => name === clauseName);
  if (clause === undefined) throw new Error(`the contract has no clause: ${clauseName}`);
  const subject = await open();
  try {
    await clause.check(subject);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await subject.close();
  }
}

async function assertCaught(t: ExecutionContext, clauseName: string, open: () => Promise<Subject>) {
  t.is(await outcome(ordinary, open), undefined);
  const caught = await outcome(clauseName, open);
  // A statement that does not even run would prove nothing about the clause.
  const isVerdict =
    caught instanceof AssertionError || (caught instanceof StoreError && caught.failure !== 'defect');
  t.true(isVerdict, `not caught: ${caught}`);
}

for (const { name, caughtBy, ...variant } of wrongVariants) {
  test.serial(`the contract catches a PostgreSQL store where ${name}`, async (t) => {
    await assertCaught(t, caughtBy, () => postgresSubject(server, variant));
  });
}

test('the contract catches a model that ignores the version', async (t) => {
  const clock = { nowMs: () => 1_700_000_000_000 };
  const open = () => modelSubject(new VersionBlindDatabase(clock));
  await assertCaught(t, 'a commit that waits behind the barrier never applies', open);
});
