/** `import account`: one account from any server of the family, over HTTP, with its password. */
import { join } from 'node:path';
import { type UnlessInterrupted, withTemporaryFolder } from '../../process/temporary-folder.ts';
import { ImportService } from '../../proto/generated/scriptorium/v1/import.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { RefusedError, type ServerAddress, UnreachableError } from '../http-client.ts';
import { type DownloadedAccount, downloadAccount } from '../import/account/download.ts';
import { isSameAddress } from '../import/account/sign-in.ts';
import type { ImportContext } from '../import/context.ts';
import { ImportReport } from '../import/report.ts';
import { runImport } from '../import/run.ts';
import { createSpool, type Spool } from '../import/source/spool.ts';
import { openSqlite } from '../import/source/sqlite.ts';
import { Tables } from '../import/source/tables.ts';
import { ImportTarget } from '../import/target.ts';
import { verifyImport } from '../import/verify/verify.ts';
import { readInputFile } from '../input-file.ts';
import type { CommandSession } from '../session.ts';
import { counted, formatTable } from '../table.ts';
import { parseWholeNumber, type RunWithSession, type TeachingCommand } from './command.ts';
import { serverUrl } from './smoke-test.ts';

const mebibyte = 1_048_576;

interface AccountOptions {
  readonly from: string;
  readonly email: string;
  readonly accessKeyFile?: string;
  readonly history?: boolean;
  readonly oldProtocol?: boolean;
  readonly sizeMax: number;
  readonly dryRun?: boolean;
}

export function addImportAccount(group: TeachingCommand, run: RunWithSession): void {
  group
    .command('account')
    .requiredOption('--from <url>', 'the address of the other server, as apps use it')
    .requiredOption('--email <address>', 'the address or name that signs in there')
    .option('--access-key-file <file>', 'the file with its access key, if clients need one')
    .option('--history', 'also bring the history of items: two requests for each of them')
    .option('--old-protocol', 'the account is of protocol 001 or 002, and its server may know that')
    .option(
      '--size-max <mebibytes>',
      'the room that the account may take in the folder of temporary files',
      (text) => parseWholeNumber(text, 1, 1_048_576),
      4_096,
    )
    .option('--dry-run', 'say what would come and why something would not; nothing is written')
    .summary('bring one account from any server, with its password')
    .description(
      'Sign in to another server with the password of an account, and bring the account here: its items with their ' +
        'times and its settings. It signs in here with the same password. Both sides are compared before it may.',
    )
    .action((options: AccountOptions) => run((session) => importAccount(session, options)))
    .teach(
      'When only one account moves, or nobody can read the database of the other server. Its owner types the password. ' +
        'Files, shared vaults and second factors do not come this way.',
      'import account --from https://notes.example.org --email alice@example.org',
    );
}

async function importAccount(session: CommandSession, options: AccountOptions): Promise<number> {
  const password = await session.terminal.askSecret(`Password of ${options.email}: `);
  // Also after Ctrl-C at the question. The other server would count an empty password as a wrong one.
  if (password === '') throw CommandFailure.usage('No password was given.');
  const target = new ImportTarget(session);
  return withTemporaryFolder({ prefix: 'scriptorium-import-' }, async (folder, unlessInterrupted) => {
    const path = join(folder, 'account.sqlite');
    const spool = await createSpool(path, options.sizeMax * mebibyte);
    const downloading = download({ session, target, spool, password, unlessInterrupted }, options);
    const downloaded = await downloading.finally(() => spool.close());
    session.progress(`${counted(downloaded.items, 'item')} fetched.`);
    const database = await openSqlite(path);
    const tables = new Tables(database, database, 0);
    try {
      const bringing = bring(session, { tables, target }, downloaded, options.dryRun === true);
      return await unlessInterrupted(bringing);
    } finally {
      await tables.close();
    }
  });
}

interface Download {
  readonly session: CommandSession;
  readonly target: ImportTarget;
  readonly spool: Spool;
  readonly password: string;
  readonly unlessInterrupted: UnlessInterrupted;
}

/** @throws CommandFailure */
async function download(
  { session, target, spool, password, unlessInterrupted }: Download,
  { from, email, accessKeyFile, history = false, oldProtocol = false }: AccountOptions,
): Promise<DownloadedAccount> {
  try {
    const accessKey = accessKeyFile && readInputFile(accessKeyFile, '--access-key-file').toString().trim();
    const server: ServerAddress = { url: serverUrl(from), accessKey, deadlineMs: session.deadlineMs };
    const credentials = { email, password, acceptsOldProtocol: oldProtocol };
    const check = (userUuid: string): Promise<void> => refuseAnotherAccount(target, userUuid, email);
    const wanted = { server, ...credentials, withHistory: history, check, unlessInterrupted };
    return await downloadAccount(wanted, spool, session.terminal);
  } catch (error) {
    if (error instanceof UnreachableError) throw CommandFailure.unavailable(`${error.message}.`);
    if (error instanceof RefusedError) throw CommandFailure.refused(error.message);
    throw error;
  }
}

/**
 * The other server chooses the uuid. It may not name an account that another import has brought here.
 *
 * @throws CommandFailure
 */
async function refuseAnotherAccount(target: ImportTarget, userUuid: string, email: string): Promise<void> {
  const address = await target.addressOf(userUuid);
  if (address === undefined || isSameAddress(address, email)) return;
  throw CommandFailure.refused(
    `The account ${userUuid} is here already, under another address. Nothing was written. Check the address.`,
  );
}

async function bring(
  session: CommandSession,
  { tables, target }: Pick<ImportContext, 'tables' | 'target'>,
  { userUuid, inVaults }: DownloadedAccount,
  dryRun: boolean,
): Promise<number> {
  const context: ImportContext = {
    tables,
    target,
    limits: await target.describe(),
    report: new ImportReport(),
    serverKey: undefined,
    withoutKey: 'drop',
    dryRun,
    administrators: false,
    quotas: false,
    preferred: new Set(),
    progress: () => undefined,
  };
  await runImport(context, undefined, { keepClosed: true, isWhole: false });
  const { report } = context;
  const isHere = !dryRun && (await target.showAccount(userUuid))?.phase === 'closed';
  const compared = isHere ? await verifyImport(context, undefined, { isWhole: false }) : undefined;
  const isSame = compared?.differenceCount === 0;
  if (isSame) await target.ask(ImportService.openAccount, { userUuid, unlock: false });
  const document = { ...report.document(), userUuid, dryRun, opened: isSame, inVaults, compared };
  session.answer(document, () =>
    [
      formatTable(
        ['TABLE', 'READ', dryRun ? 'WOULD COME' : 'WRITTEN', 'UNCHANGED', 'LEFT OUT', 'WHY'],
        report.rows(),
      ),
      '',
      ...(inVaults > 0 ? [`${counted(inVaults, 'item')} in shared vaults did not come.`] : []),
      ...(compared === undefined ? [] : [`${compared.differenceCount} differences between the servers.`]),
      outcomeOf(dryRun, isSame),
    ].join('\n'),
  );
  return isSame || (dryRun && !report.isWanting) ? exitCodes.ok : exitCodes.incomplete;
}

function outcomeOf(dryRun: boolean, isSame: boolean): string {
  if (dryRun) return 'Nothing was written.';
  return isSame
    ? 'The account signs in here now, with the same password and without a second factor.'
    : 'The account was not opened.';
}
