import test from 'ava';
import { startTestPostgres, type TestPostgres } from '../../test/kit/postgres.ts';
import { contract } from '../../test/store/contract.ts';
import { modelSubject } from '../../test/store/model-subject.ts';
import { postgresSubject } from '../../test/store/postgres-subject.ts';
import type { Subject } from '../../test/store/subject.ts';
import { cockroachSql } from './postgres/store.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

const subjects: Readonly<Record<string, () => Promise<Subject>>> = {
  model: modelSubject,
  postgres: () => postgresSubject(server),
  'postgres, asked as CockroachDB is': () => postgresSubject(server, { sql: cockroachSql }),
};

for (const [name, open] of Object.entries(subjects)) {
  for (const clause of contract) {
    test.serial(`${name}: ${clause.name}`, async (t) => {
      const subject = await open();
      try {
        await t.notThrowsAsync(clause.check(subject));
      } finally {
        await subject.close();
      }
    });
  }
}
