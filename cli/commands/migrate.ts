/** `migrate plan` and `migrate apply`: they ask the database, not a node. */
import type { CommandSession } from '../session.ts';
import type { AddCommands } from './command.ts';

export interface Migrate {
  /** @throws CommandFailure */
  plan(): Promise<readonly { readonly id: string; readonly sql: string }[]>;
  /** Resolves to the ids of the applied migrations. @throws CommandFailure */
  apply(onApplied: (id: string) => void): Promise<readonly string[]>;
}

const upToDate = 'The database has the schema of this release.';

export const addMigrateCommands =
  (migrate: Migrate): AddCommands =>
  (program, run) => {
    const group = program
      .command('migrate')
      .summary('show and apply what the schema of the database lacks')
      .description('Show and apply what the schema of the database at DATABASE_URL lacks for this release.');
    group
      .command('plan')
      .summary('what would be applied')
      .description('Show what would be applied, statement by statement. Nothing is changed.')
      .action(() => run((session) => plan(session, migrate)))
      .teach('Before an upgrade, to see what it will change in the database.', 'migrate plan');
    group
      .command('apply')
      .summary('bring the schema up to date')
      .description('Bring the schema up to date. Nodes of the previous release may keep running meanwhile.')
      .action(() => run((session) => apply(session, migrate)))
      .teach(
        'Before starting nodes of a new release with MIGRATE_AT_START=false, using the command line of that ' +
          'release. An interrupted run resumes where it stopped.',
        'migrate apply',
      );
  };

async function plan(session: CommandSession, migrate: Migrate): Promise<void> {
  const pending = await migrate.plan();
  session.answer({ pending: pending.map(({ id, sql }) => ({ id, sql: oneLine(sql) })) }, () =>
    pending.length === 0 ? upToDate : pending.map(({ id, sql }) => `-- ${id}\n${oneLine(sql)};`).join('\n'),
  );
}

async function apply(session: CommandSession, migrate: Migrate): Promise<void> {
  const applied = await migrate.apply((id) => session.progress(id));
  session.answer({ applied }, upToDate);
}

const oneLine = (sql: string): string => sql.trim().replaceAll(/\s+/g, ' ');
