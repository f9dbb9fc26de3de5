import test from 'ava';
import { findCockroach, startTestCockroach } from '../../test/kit/cockroach.ts';
import type { TestPostgres } from '../../test/kit/postgres.ts';
import { contract } from '../../test/store/contract.ts';
import { cockroachWaiting, postgresSubject } from '../../test/store/postgres-subject.ts';

const binary = findCockroach(process.env);

if (binary === undefined) {
  test.skip('cockroach: the contract of the store, because COCKROACH_PATH names no binary and none is on the PATH', () =>
    undefined);
} else {
  let server: TestPostgres;
  test.before(async () => {
    server = await startTestCockroach(binary);
  });
  test.after.always(() => server?.stop());

  for (const clause of contract) {
    test.serial(`cockroach: ${clause.name}`, async (t) => {
      const subject = await postgresSubject(server, { waiting: cockroachWaiting });
      try {
        await t.notThrowsAsync(clause.check(subject));
      } finally {
        await subject.close();
      }
    });
  }
}
