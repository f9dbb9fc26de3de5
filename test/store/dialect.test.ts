/**
 * The common dialect: CockroachDB's own parser reads every statement of the project, and the test checks the trees
 * against the rules. It collects statements in two ways: on the wire while the contract and the migrations run, and
 * by walking the generated shapes. All SQL in the sources must be among them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { tables as domainTables } from '../../actors/kinds.ts';
import { lockOfCockroach, pastOfCockroach } from '../../process/backup/database.ts';
import { openFolderTarget } from '../../process/backup/folder-target.ts';
import { diagnoseDatabase } from '../../process/doctor/database.ts';
import { migrations as releasedMigrations } from '../../process/schema.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { reshard, shardCountSetting } from '../../runtime/store/postgres/reshard.ts';
import { cockroachSql, openPostgresStore, storeSql } from '../../runtime/store/postgres/store.ts';
import { runtimeTables, versionTable } from '../../runtime/store/tables.ts';
import type { AnyTable } from '../../runtime/table.ts';
import { buildDialectChecker, checkDialect, type Script } from '../../tools/cockroach-dialect/run.ts';
import { backUpTo, Files, restoreFrom } from '../backup/world.ts';
import { createTable } from '../kit/create-table.ts';
import {
  type DatabaseConnection,
  databaseUrl,
  startTestPostgres,
  type TestPostgres,
} from '../kit/postgres.ts';
import { actor, commitWrites, insert } from './actors.ts';
import { contract } from './contract.ts';
import { postgresSubject } from './postgres-subject.ts';
import { oneBlank, sqlLiterals } from './source-literals.ts';
import { StatementRecorder } from './statement-recorder.ts';
import { commitTexts, readTexts, sampleRow, sampleWrites } from './statement-shapes.ts';
import { contractTables } from './tables.ts';

/** Exempt from the rules, each for a reason. */
const exempt: readonly { readonly text: RegExp; readonly because: string }[] = [
  { text: /^SET enable_seqscan/, because: 'sent only to what calls itself PostgreSQL' },
  { text: /pg_try_advisory_lock|READ ONLY$/, because: 'sent only to what calls itself PostgreSQL' },
  {
    text: /^TRUNCATE TABLE/,
    because: 'both have it, and a restore that begins anew says it while no server runs',
  },
  { text: /^SHOW /, because: 'the doctor asks what calls itself PostgreSQL' },
  { text: /pg_stat_activity/, because: 'the contract’s own, to see who waits' },
];
/** Texts that may take row locks outside a transaction. */
const lockReasons: readonly { readonly text: RegExp; readonly because: string }[] = [
  { text: /FROM migration_lock/, because: 'one process migrates at a time, and its end frees the lock' },
  { text: /FOR NO KEY UPDATE OF actor SKIP LOCKED/, because: 'it only asks whose rows are free' },
  { text: /FROM actor WHERE .* FOR UPDATE/, because: 'the contract’s own, to hold a row' },
];

const tables: readonly AnyTable[] = [...runtimeTables, ...domainTables, ...contractTables];
/** Statements for CockroachDB alone. */
const zones = releasedMigrations.filter(({ only }) => only !== undefined);
const migrations = [
  ...releasedMigrations.filter(({ only }) => only === undefined),
  ...contractTables.flatMap(createTable),
];

let server: TestPostgres;
let recorded: readonly (readonly string[])[];

test.before(async () => {
  buildDialectChecker();
  server = await startTestPostgres();
  const recorder = new StatementRecorder();
  const recording = recorder.through(server);
  const used = await recording.createDatabase();
  await useAndReshard(used);
  await examineDatabase(used);
  await backUpAndRestore(used, await recording.createDatabase());
  for (const sql of [storeSql, cockroachSql])
    for (const { check } of contract) {
      const subject = await postgresSubject(recording, { sql });
      await check(subject);
      await subject.close();
    }
  recorded = recorder.scripts();
  await recorder.stop();
});
test.after.always(() => server?.stop());

/** A migrated database with a row in each table of the runtime, whose number of shards changes. */
async function useAndReshard(connection: DatabaseConnection): Promise<void> {
  await migrate(connection, releasedMigrations);
  const store = await openPostgresStore({ connection });
  await store.fixedSetting(shardCountSetting, '16');
  await commitWrites(
    store,
    actor(1),
    runtimeTables.map((table) => insert(table, sampleRow(table))),
  );
  await store.close();
  await reshard({ connection, shardCount: 64, batchRows: 1 });
}

/** What an operator's doctor asks. */
async function examineDatabase(connection: DatabaseConnection): Promise<void> {
  const connectionString = databaseUrl(connection);
  await diagnoseDatabase({
    connectionString,
    connections: 20,
    clockSkewMaxMs: 10_000,
    nowMs: () => Date.now(),
  });
}

/** A database that is backed up, and restored into another. */
async function backUpAndRestore(from: DatabaseConnection, to: DatabaseConnection): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'dialect-'));
  try {
    const target = await openFolderTarget(join(folder, 'target'), { create: true });
    await backUpTo({ connection: from, files: new Files(join(folder, 'files')), target });
    // The first one dies, and the second removes what it has left.
    const onProgress = (stage: string) => {
      if (stage === 'Comparing …') throw new Error('died');
    };
    await restoreFrom(target, to, join(folder, 'restored'), { onProgress }).catch(() => undefined);
    await restoreFrom(target, to, join(folder, 'restored'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const schemaScripts: readonly Script[] = migrations.map(({ sql }) => ({ texts: [sql] }));

/** With the schema before them, and first those that extend it. Existing objects may be made again. */
function scriptsOf(collected: readonly (readonly string[])[]): readonly Script[] {
  const making = collected.filter(isMaking);
  const others = collected.filter((texts) => !isMaking(texts));
  return [...schemaScripts, ...[...making, ...others].map(scriptOf)];
}

const isMaking = (texts: readonly string[]) => texts.some((text) => text.startsWith('CREATE'));

function scriptOf(texts: readonly string[]): Script {
  const lockReason = lockReasons.find(({ text }) => texts.some((one) => text.test(one)))?.because;
  return lockReason === undefined ? { texts } : { texts, lockReason };
}

const isExempt = (texts: readonly string[]) => exempt.some(({ text }) => texts.some((one) => text.test(one)));

/** The violations, each with one of the offending texts. */
function violations(collected: readonly (readonly string[])[]): readonly string[] {
  const found = checkDialect(scriptsOf(collected)).map(
    ({ rule, message, text }) => [`${rule}: ${message}`, text] as const,
  );
  return [...new Map(found)].map(([what, text]) => `${what}: ${text}`);
}

const generated = [
  ...tables.flatMap((table) => [
    ...readTexts(table).map((text) => [text]),
    ...sampleWrites(table).map((write) => commitTexts([write])),
    commitTexts(sampleWrites(table)),
  ]),
  ...readTexts(versionTable).map((text) => [text]),
];

test('every statement that contract and migrations send is in the dialect', (t) => {
  t.true(recorded.length > 50);
  t.deepEqual(violations(recorded.filter((texts) => !isExempt(texts))), []);
});

test("CockroachDB's parser takes the statements for CockroachDB alone, and the common dialect does not have them", (t) => {
  t.true(zones.length > 0);
  const found = checkDialect([...schemaScripts, ...zones.map(({ sql }) => ({ texts: [sql] }))]);
  // It parses, but nothing of it is in the common dialect.
  t.deepEqual([...new Set(found.map(({ rule }) => rule))], ['syntax']);
  t.deepEqual(
    [...new Set(found.map(({ text }) => text))],
    zones.map(({ sql }) => sql),
  );
});

test('every shape that is generated for a table of the project is in the dialect', (t) => {
  t.true(generated.length > 100);
  t.deepEqual(violations([...generated, commitTexts(tables.flatMap(sampleWrites))]), []);
});

test('the statements of a commit are in the dialect, whatever tables it writes', (t) => {
  const writes = tables.flatMap(sampleWrites);
  const commits = fc.sample(fc.subarray(writes, { minLength: 1, maxLength: 8 }), { numRuns: 300, seed: 11 });
  t.deepEqual(violations(commits.map(commitTexts)), []);
});

/** SQL for the database of another server, which an import reads. */
const foreignFolder = /^cli\/import\/source\//;

/** Begins like SQL, and is RFC 5545. */
const calendarText = /^BEGIN:V/;

test('all SQL in the sources was collected', async (t) => {
  const collected = [
    ...recorded,
    ...generated,
    ...schemaScripts.map(({ texts }) => texts),
    zones.map(({ sql }) => sql),
    // A backup of CockroachDB says these in place of what PostgreSQL alone has.
    [pastOfCockroach, ...lockOfCockroach],
  ];
  const known = [...new Set(collected.flat())].map(oneBlank).join('\n');
  const literals = await sqlLiterals(['runtime', 'actors', 'gateway', 'process', 'cli']);
  t.true(literals.length > 60);
  t.deepEqual(
    literals.filter(
      ({ file, text }) => !foreignFolder.test(file) && !known.includes(text) && !calendarText.test(text),
    ),
    [],
  );
});
