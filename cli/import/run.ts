/**
 * One pass of an import (docs/import.md):
 *
 *     accounts   each account exists, closed, with its settings and factors
 *     vaults     with their members and open invites
 *     prune      ends vaults that the other server has deleted, and removes what has moved or vanished there since an earlier pass
 *     items      of each user and each vault, history first; then the messages that a user has received, and files
 *     open       the users may sign in
 *
 * A pass that is killed leaves closed accounts, and the next pass does the rest. Users never see an account that is only half
 * imported.
 */
import { ImportService } from '../../proto/generated/scriptorium/v1/import.ts';
import { importSourceUser } from './accounts.ts';
import { forEachConcurrently, type ImportContext } from './context.ts';
import { endDeletedVaults } from './ended-vaults.ts';
import { importFiles } from './files/import.ts';
import type { SourceFiles } from './files/source.ts';
import { importItems, pruneItems, type VaultStates } from './items.ts';
import { countedTables } from './source/tables.ts';
import { importVaults, type Population } from './vaults.ts';

const usersConcurrencyMax = 4;

interface PassOptions {
  readonly keepClosed: boolean;
  /** The source has all vaults of its users, so a vault that it lacks has been deleted there. */
  readonly isWhole: boolean;
}

export async function runImport(
  context: ImportContext,
  files: SourceFiles | undefined,
  { keepClosed, isWhole }: PassOptions,
): Promise<void> {
  const { tables, report } = context;
  for (const table of countedTables) report.read(table, await tables.count(table));
  context.progress('Accounts …');
  const population = await importAccounts(context);
  context.progress(`${population.accepted.size} accounts. Vaults …`);
  const { vaults, fresh } = await importVaults(context, population);
  const earlier = [...population.accepted].flatMap(([uuid, { fresh: isFresh }]) => (isFresh ? [] : [uuid]));
  if (isWhole) await endDeletedVaults(context, earlier, vaults);
  if (!context.dryRun) await pruneAll(context, earlier, vaults, fresh);
  context.progress('Items …');
  await forEachConcurrently(population.accepted, usersConcurrencyMax, async ([uuid, { fresh: isFresh }]) => {
    const collection = { isVault: false, uuid };
    await importItems(context, { collection, fresh: isFresh, vaults }, tables.itemsOf(uuid));
    await importInbox(context, uuid);
  });
  for (const [uuid, state] of vaults) {
    if (state !== 'here') continue;
    const collection = { isVault: true, uuid };
    await importItems(context, { collection, fresh: fresh.has(uuid), vaults }, tables.itemsIn(uuid));
  }
  if (files !== undefined) {
    context.progress('Files …');
    await importFiles(context, files, population, vaults);
  }
  settle(context);
  if (!context.dryRun && !keepClosed) await openAll(context, population);
}

async function importAccounts(context: ImportContext): Promise<Population> {
  const { tables, report } = context;
  const accepted = new Map<string, { readonly fresh: boolean }>();
  const refused = new Set<string>();
  const losers = await losersOf(context);
  await forEachConcurrently(tables.users(), usersConcurrencyMax, async (user) => {
    const uuid = user.uuid.toLowerCase();
    if (losers.has(user.uuid)) {
      report.skipped('users', 'address-of-another', user.uuid);
      return;
    }
    const outcome = await importSourceUser(context, user);
    if (outcome.state === 'written') accepted.set(uuid, { fresh: outcome.fresh });
    else if (outcome.state === 'in-use') refused.add(uuid);
  });
  return { accepted, refused };
}

/** Among accounts whose addresses differ only in case, all but the one to import. */
async function losersOf({ tables, preferred }: ImportContext): Promise<ReadonlySet<string>> {
  const losers = new Set<string>();
  for (const holders of await tables.sharedAddresses()) {
    const chosen = holders.find((uuid) => preferred.has(uuid.toLowerCase())) ?? holders[0];
    for (const uuid of holders) if (uuid !== chosen) losers.add(uuid);
  }
  return losers;
}

async function pruneAll(
  context: ImportContext,
  earlier: readonly string[],
  vaults: VaultStates,
  fresh: ReadonlySet<string>,
): Promise<void> {
  await forEachConcurrently(earlier, usersConcurrencyMax, (uuid) =>
    pruneItems(context, { collection: { isVault: false, uuid }, vaults }),
  );
  const before = [...vaults].filter(([uuid, state]) => state === 'here' && !fresh.has(uuid));
  await forEachConcurrently(before, usersConcurrencyMax, ([uuid]) =>
    pruneItems(context, { collection: { isVault: true, uuid }, vaults }),
  );
}

async function importInbox(
  { tables, target, report, dryRun }: ImportContext,
  userUuid: string,
): Promise<void> {
  const messages = [...(await tables.messages(userUuid))];
  const notifications = [...(await tables.notifications(userUuid))];
  if (dryRun) {
    report.written('messages', messages.length);
    report.written('notifications', notifications.length);
    return;
  }
  const stored = await target.ask(ImportService.writeInbox, { userUuid, messages, notifications });
  report.written('messages', stored.messages);
  report.written('notifications', stored.notifications);
  const overflow = messages.length - stored.messages;
  if (overflow > 0) report.skipped('messages', 'no-room', userUuid, overflow);
  const later = notifications.length - stored.notifications;
  if (later > 0) report.skipped('notifications', 'said-again-later', userUuid, later);
}

/** Counts the rows that no part of the import reached. */
function settle({ report }: ImportContext): void {
  report.settle('items', 'account-gone');
  report.settle('revisions_revisions', 'item-not-here');
  report.settle('settings', 'account-not-imported');
  report.settle('authenticators', 'account-gone');
  report.settle('shared_vault_users', 'vault-gone');
  report.settle('shared_vault_invites', 'vault-gone');
  report.settle('messages', 'account-gone');
  report.settle('notifications', 'account-gone');
}

async function openAll({ target, report }: ImportContext, { accepted }: Population): Promise<void> {
  await forEachConcurrently(accepted.keys(), usersConcurrencyMax, async (userUuid) => {
    const { opened } = await target.ask(ImportService.openAccount, { userUuid, unlock: false });
    if (opened) report.opened += 1;
  });
}
