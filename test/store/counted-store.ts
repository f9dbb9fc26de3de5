/** A PostgreSQL store that shows each statement on the wire, under the store's name for it. */
import { migrations } from '../../process/schema.ts';
import type { Migration } from '../../runtime/migration.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import type { StoreSql } from '../../runtime/store/postgres/store.ts';
import { openPostgresStore, storeSql } from '../../runtime/store/postgres/store.ts';
import type { Store } from '../../runtime/store/store.ts';
import { drainPromises } from '../kit/clock.ts';
import type { TestPostgres } from '../kit/postgres.ts';
import { StatementRecorder } from './statement-recorder.ts';

export interface CountedStore {
  readonly store: Store;
  /** The statements since the last call, once nothing is in flight any more, in the order of their names. */
  sent(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A pool's statement for a connection that it has just opened. */
const isOfConnection = (text: string) => text.startsWith('SET ') || text.startsWith('SELECT version()');

export async function openCountedStore(
  server: TestPostgres,
  more: readonly Migration[] = [],
): Promise<CountedStore> {
  const recorder = new StatementRecorder();
  const connection = await recorder.through(server).createDatabase();
  await migrate(connection, [...migrations, ...more]);
  const names = new Map<string, string>();
  const postgres = await openPostgresStore({ connection, sql: naming(names) });
  const calls = { count: 0 };
  recorder.takeSent();
  return {
    store: counting(postgres, calls),
    async sent() {
      do await drainPromises();
      while (calls.count > 0);
      const texts = recorder.takeSent().filter((text) => !isOfConnection(text));
      return texts.map((text) => names.get(text) ?? text).sort();
    },
    async close() {
      await postgres.close();
      await recorder.stop();
    },
  };
}

/** The store's statements, which leave their names behind when they are made. */
function naming(names: Map<string, string>): StoreSql {
  const entries = Object.entries(storeSql).map(([name, make]) => {
    if (typeof make !== 'function') return [name, make] as const;
    return [name, (...args: readonly unknown[]) => named(names, name, Reflect.apply(make, undefined, args))];
  });
  const batchCommit: StoreSql['batchCommit'] = (commits) => {
    const { first, second } = storeSql.batchCommit(commits);
    names.set(first.text, 'commit');
    return { first, second: second && ((passed) => named(names, 'rest of commit', second(passed))) };
  };
  const planRead: StoreSql['planRead'] = (read) => {
    const plan = storeSql.planRead(read);
    names.set(plan.statement.text, `read ${read.table.name}`);
    return plan;
  };
  return { ...Object.fromEntries(entries), batchCommit, planRead };
}

function named<Made extends { readonly text: string }>(names: Map<string, string>, name: string, made: Made) {
  names.set(made.text, name);
  return made;
}

/** Counts the unanswered calls. */
function counting(store: Store, calls: { count: number }): Store {
  return new Proxy(store, {
    get(target, property) {
      const method: unknown = Reflect.get(target, property);
      if (typeof method !== 'function') return method;
      return async (...args: readonly unknown[]) => {
        calls.count += 1;
        try {
          return await Reflect.apply(method, target, args);
        } finally {
          calls.count -= 1;
        }
      };
    },
  });
}
