/** The commands of `import`. */
import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { ImportService } from '../../proto/generated/scriptorium/v1/import.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import type { ImportContext } from '../import/context.ts';
import { openSourceFiles, type SourceFiles } from '../import/files/source.ts';
import { checkKey, sourceKey } from '../import/keys.ts';
import { ImportReport } from '../import/report.ts';
import { runImport } from '../import/run.ts';
import type { SourceDatabase } from '../import/source/database.ts';
import { openMysql } from '../import/source/mysql.ts';
import { openSqlite } from '../import/source/sqlite.ts';
import { Tables } from '../import/source/tables.ts';
import { ImportTarget } from '../import/target.ts';
import type { Compared } from '../import/verify/compared.ts';
import { verifyImport } from '../import/verify/verify.ts';
import { readInputFile } from '../input-file.ts';
import type { CommandSession } from '../session.ts';
import { counted, formatTable } from '../table.ts';
import type { AddCommands, TeachingCommand } from './command.ts';
import { addImportAccount } from './import-account.ts';
import { uuidHelp } from './users.ts';

interface SourceOptions {
  readonly from: string;
  readonly revisionsFrom?: string;
  readonly passwordFile?: string;
  readonly files?: string;
  readonly sourceKeyFile?: string;
  readonly envFile?: string;
  readonly utcOffset: number;
  readonly report: string;
}

interface ImportServerOptions extends SourceOptions {
  readonly dryRun?: boolean;
  readonly keepClosed?: boolean;
  readonly withoutKey: 'stop' | 'lock' | 'drop';
  readonly administrators?: boolean;
  readonly quotas?: boolean;
  readonly prefer?: readonly string[];
}

const utcOffset = (text: string): number => {
  const minutes = Number(text);
  if (Number.isInteger(minutes) && Math.abs(minutes) <= 14 * 60) return minutes;
  throw CommandFailure.usage('--utc-offset is a number of minutes, such as 60.');
};

function withSource(command: TeachingCommand): TeachingCommand {
  return command
    .requiredOption('--from <database>', 'mysql://user@host/name, or sqlite:/path/home_server.sqlite')
    .option('--password-file <file>', 'the file with the password of that database')
    .option('--revisions-from <database>', 'the one with the revisions, if they have one of their own')
    .option('--files <place>', 'the folder with the files, or s3://bucket?region=…&endpoint=…')
    .option('--source-key-file <file>', 'the file with ENCRYPTION_SERVER_KEY of the other server')
    .option('--env-file <file>', 'its .env, which has that key')
    .option('--utc-offset <minutes>', 'the time zone that its process had, for MySQL', utcOffset, 0);
}

export const addImportCommands: AddCommands = (program, run) => {
  const group = program
    .command('import')
    .summary('move accounts in from the existing server')
    .description('Move accounts in from the existing server, and compare both servers. See docs/import.md.');
  withSource(group.command('server'))
    .option('--dry-run', 'say what would come, what would not and why; nothing is written')
    .option('--keep-closed', 'let nobody sign in yet: another pass follows')
    .addOption(
      new Option('--without-key <choice>', 'accounts whose second factor cannot be read')
        .choices(['stop', 'lock', 'drop'])
        .default('stop'),
    )
    .option('--administrators', 'administrators over there are administrators here')
    .option('--quotas', 'take over how much each account may upload')
    .option('--prefer <uuid...>', 'of accounts whose addresses differ in case alone, those that come')
    .option('--report <file>', 'where the report is kept', 'import-report.json')
    .summary('bring everything that a server has')
    .description(
      'Bring the accounts of a server with their passwords, items, history, vaults, settings, second factors and ' +
        'files. Accounts are closed until the end. Once more brings what has changed since, and nothing twice.',
    )
    .action((options: ImportServerOptions) => run((session) => importServer(session, options)))
    .teach(
      'To move in. First with --dry-run; then with --keep-closed while the other server runs; then, with that one ' +
        'stopped, once more without it. It may be interrupted at any time.',
      'import server --from sqlite:/srv/home.sqlite --files /srv/uploads --env-file .env',
      'import server --from mysql://notes@127.0.0.1/notes --password-file pw --dry-run',
    );
  withSource(group.command('verify'))
    .option('--report <file>', 'where the report is kept', 'verify-report.json')
    .summary('compare both servers')
    .description(
      'Compare every account on both servers: numbers, and digests of everything that clients are given. ' +
        'Exit code 65: something differs.',
    )
    .action((options: SourceOptions) => run((session) => verify(session, options)))
    .teach(
      'After the last pass, before anybody signs in. Accounts that are in use already are left out.',
      'import verify --from sqlite:/srv/home.sqlite --files /srv/uploads --env-file .env',
    );
  addImportAccount(group, run);
  group
    .command('unlock')
    .argument('<user>', uuidHelp)
    .summary('open an account whose second factor could not be read')
    .description('Let an account sign in by its password alone: its second factor could not be read.')
    .action((userUuid) => run((session) => unlock(session, userUuid)))
    .teach(
      'Once you have made sure that it is its owner who asks.',
      'import unlock 5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11',
    );
};

async function importServer(session: CommandSession, options: ImportServerOptions): Promise<number> {
  return withContext(session, options, async (context, files) => {
    const startMs = session.terminal.monotonicMs();
    const { report } = context;
    const documentOf = (ended: object) => {
      const seconds = (session.terminal.monotonicMs() - startMs) / 1_000;
      return { dryRun: context.dryRun, seconds, ...ended, ...report.document() };
    };
    try {
      await runImport(context, files, { keepClosed: options.keepClosed === true, isWhole: true });
    } catch (error) {
      keep(options.report, documentOf({ failed: (error as Error).message }));
      throw error;
    }
    const document = documentOf({});
    const { seconds } = document;
    keep(options.report, document);
    session.answer(document, () => textOf(context, seconds, options.report));
    return report.isWanting ? exitCodes.incomplete : exitCodes.ok;
  });
}

function textOf(context: ImportContext, seconds: number, file: string): string {
  const { report, dryRun } = context;
  const titles = ['TABLE', 'READ', dryRun ? 'WOULD COME' : 'WRITTEN', 'UNCHANGED', 'LEFT OUT', 'WHY'];
  const rate = Math.round(report.itemsWritten() / Math.max(seconds, 0.001));
  return [
    formatTable(titles, report.rows()),
    '',
    ...(dryRun ? [] : [`${seconds.toFixed(1)} s, ${rate} items/s.`]),
    ...keysText(context),
    ...(report.endedVaults > 0
      ? [
          `${counted(report.endedVaults, 'shared vault')} of an earlier pass ${dryRun ? 'would end' : 'ended'} here, deleted there.`,
        ]
      : []),
    ...(report.opened > 0 ? [`${counted(report.opened, 'account')} may sign in now.`] : []),
    ...(report.locked > 0
      ? [`${counted(report.locked, 'account')} locked: \`import unlock\` opens one.`]
      : []),
    `Each row that was left out: ${file}`,
  ].join('\n');
}

/** A security key works under the name alone that it was made for. */
function keysText({ report, limits }: ImportContext): string[] {
  const count = report.securityKeys();
  if (count === 0) return [];
  const are = `${counted(count, 'security key')} of the other server`;
  return [`${are}: U2F_RELYING_PARTY_ID has to be as it was there, and is ${limits.relyingPartyId} here.`];
}

async function verify(session: CommandSession, options: SourceOptions): Promise<number> {
  const choices = { withoutKey: 'drop' as const, dryRun: false };
  return withContext(session, { ...options, ...choices }, async (context, files) => {
    const compared = await verifyImport(context, files, { isWhole: true });
    const isSame = compared.differenceCount === 0;
    keep(options.report, { same: isSame, ...compared });
    session.answer({ same: isSame, ...compared }, () => comparedText(compared, options.report));
    return isSame ? exitCodes.ok : exitCodes.incomplete;
  });
}

function comparedText(compared: Compared, file: string): string {
  const { accounts, inUse, notImported, items, revisions, settings, differences } = compared;
  const rows = differences.slice(0, 20).map(({ what, uuid, why }) => [what, uuid, why]);
  return [
    `${counted(accounts, 'account')} compared, ${inUse} in use already, ${notImported} not imported.`,
    `${items} items, ${revisions} revisions, ${settings} settings, ${compared.files} files.`,
    `${counted(compared.vaults, 'vault')} with ${counted(compared.members, 'member')}.`,
    ...(rows.length > 0 ? [formatTable(['WHAT', 'UUID', 'HOW'], rows)] : []),
    compared.differenceCount === 0
      ? 'Both servers have the same.'
      : `${compared.differenceCount} differences.`,
    `All of it: ${file}`,
  ].join('\n');
}

async function unlock(session: CommandSession, userUuid: string): Promise<void> {
  const { opened } = await new ImportTarget(session).ask(ImportService.openAccount, {
    userUuid,
    unlock: true,
  });
  session.answer({ userUuid, opened }, opened ? 'It may sign in now.' : 'It was open already.');
}

async function withContext(
  session: CommandSession,
  options: Partial<ImportServerOptions> & SourceOptions,
  work: (context: ImportContext, files: SourceFiles | undefined) => Promise<number>,
): Promise<number> {
  const serverKey = sourceKey(options);
  const files = options.files === undefined ? undefined : await openSourceFiles(options.files);
  const target = new ImportTarget(session);
  const limits = await target.describe();
  const tables = await openTables(options);
  try {
    await tables.check();
    const { withoutKey = 'stop', dryRun = false } = options;
    await checkKey(tables, serverKey, withoutKey);
    const context: ImportContext = {
      tables,
      target,
      limits,
      report: new ImportReport(),
      serverKey,
      withoutKey,
      dryRun,
      administrators: options.administrators === true,
      quotas: options.quotas === true,
      preferred: new Set(options.prefer?.map((uuid) => uuid.toLowerCase())),
      progress: (text) => session.progress(text),
    };
    return await work(context, files);
  } finally {
    await tables.close();
  }
}

/** @throws CommandFailure */
async function openTables({ from, revisionsFrom, passwordFile, utcOffset }: SourceOptions): Promise<Tables> {
  const main = await openDatabase(from, passwordFile);
  try {
    const revisions = revisionsFrom === undefined ? main : await openDatabase(revisionsFrom, passwordFile);
    return new Tables(main, revisions, utcOffset);
  } catch (error) {
    // An open connection would keep the command from ending.
    await main.close();
    throw error;
  }
}

/** @throws CommandFailure */
async function openDatabase(from: string, passwordFile: string | undefined): Promise<SourceDatabase> {
  if (from.startsWith('sqlite:')) return openSqlite(from.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''));
  if (/^(mysql|mariadb):\/\//.test(from) && URL.canParse(from)) {
    const password =
      passwordFile === undefined
        ? undefined
        : readInputFile(passwordFile, '--password-file').toString().trimEnd();
    return openMysql(new URL(from), password);
  }
  throw CommandFailure.usage('--from is mysql://user@host/name or sqlite:/path.');
}

/** Writes a report. Only the owner of the file may read it, because it names accounts. */
function keep(file: string, document: object): void {
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 });
}
