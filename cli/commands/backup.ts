/** `backup` and `restore`: they work with the database and the files of the server, and ask no node. */
import type {
  BackupRequest,
  RestoredBackup,
  RestoreRequest,
  VerifyRequest,
} from '../../process/backup/operate.ts';
import { exitCodes } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { counted, formatTable } from '../table.ts';
import { type AddCommands, parseWholeNumber, type TeachingCommand } from './command.ts';

interface ManifestOutput {
  readonly id: string;
  readonly takenAt: string;
  readonly release: string;
  readonly sealer: string;
  readonly tables: readonly { readonly rows: number }[];
  readonly rows: readonly { readonly bytes: number }[];
  readonly blobs: { readonly count: number; readonly bytes: number; readonly missing: readonly string[] };
}

export interface Backups {
  /** @throws CommandFailure */
  create(request: BackupRequest): Promise<{
    readonly manifest: ManifestOutput;
    readonly copiedBlobs: number;
    readonly copiedBytes: number;
  }>;
  /** The newest first. @throws CommandFailure */
  list(target: string | undefined): Promise<readonly ManifestOutput[]>;
  /** @throws CommandFailure */
  verify(request: VerifyRequest): Promise<{
    readonly manifest: ManifestOutput;
    readonly accounts: number;
    readonly items: number;
    readonly passedOver: number;
  }>;
  /** @throws CommandFailure */
  restore(
    request: RestoreRequest,
  ): Promise<Pick<RestoredBackup, 'isSecretKeyRight'> & { readonly manifest: ManifestOutput }>;
}

const targetHelp = 'a folder, or s3://bucket/prefix; by default BACKUP_TARGET';
const backupsMax = 10_000;
/** People get no more names than this. The JSON document has all of them. */
const missingLinesMax = 10;

export const addBackupCommands =
  (backups: Backups): AddCommands =>
  (program, run) => {
    const group = program
      .command('backup')
      .argument('[target]', targetHelp)
      .option('--recipient <age1…>', 'encrypt to this recipient of age; may be repeated', collected, [])
      .option('--keep <n>', 'how many backups are kept; by default BACKUP_KEEP', (text) =>
        parseWholeNumber(text, 1, backupsMax),
      )
      .summary('write one consistent backup of the database and the files')
      .description(
        'Write one state of the database, and the files of users that belong to it. The server may be running. It takes ' +
          'the settings of the server. The secret key is not in it. See docs/backup.md.',
      )
      .action((target: string | undefined, options: CreateOptions) =>
        run((session) => create(session, backups, { target, ...options })),
      )
      .teach(
        'Every night, by BACKUP_SCHEDULE, cron or a CronJob. Files that an earlier backup has are not written again.',
        'backup /srv/backups',
        'backup s3://backups/notes --recipient age1… --keep 30',
      );
    addListCommand(group, backups, run);
    addVerifyCommand(group, backups, run);
    withIdentity(program.command('restore'))
      .option('--keep-positions', 'devices carry on where they were: only if nobody saved after the backup')
      .summary('restore a backup into an empty database')
      .description(
        'Restore a backup into an empty database and the store of files that the settings name, with no server ' +
          'running on them. Killed at any point, it begins anew. See docs/backup.md.',
      )
      .action((target: string | undefined, options: RestoreCommandOptions) =>
        run((session) => restore(session, backups, target, options)),
      )
      .teach(
        'When data is lost, or to move to another database. Put the secret key in its place first.',
        'restore /srv/backups',
        'restore s3://backups/notes --backup 20260102T031500000Z-0a1b2c3d --identity age.key',
      );
  };

const addListCommand = (group: TeachingCommand, backups: Backups, run: Parameters<AddCommands>[1]) =>
  group
    .command('list')
    .argument('[target]', targetHelp)
    .summary('the backups that are there')
    .description('Show the backups that are whole, the newest first.')
    .action((target: string | undefined) => run((session) => list(session, backups, target)))
    .teach('To see what can be restored.', 'backup list /srv/backups');

const accountsMax = 10_000;
const accountsDefault = 10;

const addVerifyCommand = (group: TeachingCommand, backups: Backups, run: Parameters<AddCommands>[1]) =>
  withIdentity(group.command('verify'))
    .option(
      '--accounts <n>',
      'how many accounts sign in and sync: those with the most items',
      (text) => parseWholeNumber(text, 0, accountsMax),
      accountsDefault,
    )
    .option(
      '--scratch <folder>',
      'where the scratch database is made; by default the folder of temporary files',
    )
    .summary('whether a backup can be restored, by restoring it')
    .description(
      'Read every object of a backup, restore it into a scratch database, start a server there, and compare what ' +
        'accounts are given with the backup. Exit code 65: it is damaged. Nothing of the server is touched.',
    )
    .action((target: string | undefined, options: VerifyCommandOptions) =>
      run((session) => verify(session, backups, target, options)),
    )
    .teach(
      'After each backup, on any machine with room for the database: a backup that was never restored is a hope.',
      'backup verify /srv/backups',
      'backup verify s3://backups/notes --identity age.key --accounts 100',
    );

const withIdentity = (command: TeachingCommand): TeachingCommand =>
  command
    .argument('[target]', targetHelp)
    .option('--backup <id>', 'the one to take; by default the newest')
    .option('--identity <file>', 'the file with the age identity that opens it');

const collected = (text: string, before: readonly string[]): readonly string[] => [...before, text];

interface CreateOptions {
  readonly recipient: readonly string[];
  readonly keep?: number;
}

interface VerifyCommandOptions {
  readonly backup?: string;
  readonly identity?: string;
  readonly accounts: number;
  readonly scratch?: string;
}

interface RestoreCommandOptions {
  readonly backup?: string;
  readonly identity?: string;
  readonly keepPositions?: boolean;
}

async function create(
  session: CommandSession,
  backups: Backups,
  { target, recipient, keep }: CreateOptions & { readonly target: string | undefined },
): Promise<number> {
  const { manifest, ...copied } = await backups.create({
    target,
    recipients: recipient,
    keep,
    nowMs: session.terminal.nowMs(),
    onProgress: (text) => session.progress(text),
  });
  const { missing } = manifest.blobs;
  session.answer({ ...summaryOf(manifest), ...copied, missing }, () =>
    [
      `Backup ${manifest.id} is whole: ${contentOf(manifest)}; ${counted(copied.copiedBlobs, 'piece')} of files written now.`,
      ...missingLines(missing),
    ].join('\n'),
  );
  return missing.length === 0 ? exitCodes.ok : exitCodes.incomplete;
}

const missingLines = (missing: readonly string[]): readonly string[] =>
  missing.length === 0
    ? []
    : [
        `${counted(missing.length, 'piece')} of files that the database names cannot be read, so the backup lacks them:`,
        ...missing.slice(0, missingLinesMax).map((name) => `  ${name}`),
      ];

async function list(session: CommandSession, backups: Backups, target: string | undefined): Promise<void> {
  const manifests = await backups.list(target);
  session.answer({ backups: manifests.map(summaryOf) }, () =>
    manifests.length === 0
      ? 'There is no backup.'
      : formatTable(
          ['ID', 'RELEASE', 'ROWS', 'FILES', 'MB', 'ENCRYPTED'],
          manifests.map((manifest) => [
            manifest.id,
            manifest.release,
            rowsOf(manifest),
            manifest.blobs.count,
            Math.round(bytesOf(manifest) / 1e6),
            manifest.sealer === 'plain' ? 'no' : 'yes',
          ]),
        ),
  );
}

async function verify(
  session: CommandSession,
  backups: Backups,
  target: string | undefined,
  { backup, identity, accounts, scratch }: VerifyCommandOptions,
): Promise<void> {
  const { manifest, ...tried } = await backups.verify({
    target,
    backup,
    identityFile: identity,
    accounts,
    scratchIn: scratch,
    onProgress: (text) => session.progress(text),
  });
  session.answer({ ...summaryOf(manifest), ...tried }, () =>
    [
      `Backup ${manifest.id} can be restored: ${contentOf(manifest)}, all as they were written.`,
      `${counted(tried.accounts, 'account')} signed in and synced ${counted(tried.items, 'item')}, the same as in the backup.`,
      ...(tried.passedOver > 0
        ? [`${counted(tried.passedOver, 'account')} passed over: they have a second factor.`]
        : []),
    ].join('\n'),
  );
}

async function restore(
  session: CommandSession,
  backups: Backups,
  target: string | undefined,
  { backup, identity, keepPositions = false }: RestoreCommandOptions,
): Promise<void> {
  const { manifest, isSecretKeyRight } = await backups.restore({
    target,
    backup,
    identityFile: identity,
    keepPositions,
    onProgress: (text) => session.progress(text),
  });
  session.answer({ ...summaryOf(manifest), isSecretKeyRight: isSecretKeyRight ?? null }, () =>
    [
      `Backup ${manifest.id} is restored: ${contentOf(manifest)}. Start the server.`,
      keepPositions
        ? 'Devices carry on where they were.'
        : 'Every device reads everything from the beginning once.',
      secretKeySentence(isSecretKeyRight),
    ].join('\n'),
  );
}

function secretKeySentence(isRight: boolean | undefined): string {
  if (isRight === undefined) return 'The secret key is not here: put it in its place before the start.';
  return isRight
    ? 'The secret key here is that of the backup.'
    : 'The secret key here is NOT that of the backup, and no server will start: put the right one in its place.';
}

const rowsOf = ({ tables }: ManifestOutput): number => tables.reduce((sum, { rows }) => sum + rows, 0);
const bytesOf = ({ rows, blobs }: ManifestOutput): number =>
  rows.reduce((sum, { bytes }) => sum + bytes, blobs.bytes);

const contentOf = (manifest: ManifestOutput): string =>
  `${rowsOf(manifest).toLocaleString('en')} rows and ${counted(manifest.blobs.count, 'piece')} of files`;

const summaryOf = (manifest: ManifestOutput) => ({
  id: manifest.id,
  takenAt: manifest.takenAt,
  release: manifest.release,
  isEncrypted: manifest.sealer !== 'plain',
  rows: rowsOf(manifest),
  blobs: manifest.blobs.count,
  bytes: bytesOf(manifest),
});
