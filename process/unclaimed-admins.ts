/**
 * The first user to register an address in `ADMIN_EMAILS` is an administrator, so operators are warned about
 * addresses that are still free.
 */
import { findUser } from '../actors/identity/account-table.ts';
import { defaultWorkspace } from '../actors/identity/usernames.ts';
import type { AccountSettings } from '../actors/settings.ts';
import type { Lookups } from '../runtime/command.ts';
import type { Logger } from '../runtime/ports.ts';

export async function warnOfUnclaimedAdmins(
  { adminEmails, registrationDisabled }: Pick<AccountSettings, 'adminEmails' | 'registrationDisabled'>,
  lookups: Lookups,
  logger: Logger,
): Promise<void> {
  if (registrationDisabled) return;
  let unclaimed = 0;
  for (const email of adminEmails) {
    if ((await findUser(lookups, { email, workspace: defaultWorkspace })) === undefined) unclaimed += 1;
  }
  if (unclaimed === 0) return;
  logger.warn(
    { addresses: unclaimed },
    'ADMIN_EMAILS lists addresses that have no account while registration is open: anyone who registers one becomes an administrator; `scriptorium user promote` is the safer way',
  );
}
