/** The operator's feature flag for published reminders and the user's. Each decision that depends on them reads both. */
import type { View } from '../../../runtime/command.ts';
import { type Refused, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { isBanned } from '../ban.ts';
import { profileSlice } from '../profile.ts';
import { settingValue } from '../settings/stored.ts';

const disabled = refuse.forbidden('This server does not deliver reminders.', 'reminder-delivery-disabled');
const notAllowed = refuse.forbidden(
  'Turn on the delivery of reminders for your account first.',
  'reminder-delivery-not-allowed',
);

export const isOpenToAll = (view: View): boolean => view.use(AccountSettings).reminderDelivery;

export const isWanted = (view: View): boolean =>
  settingValue(view, 'REMINDER_DELIVERY_ENABLED')?.toLowerCase() === 'true';

export const isInUse = (view: View): boolean => view.get(profileSlice).state === 'active' && !isBanned(view);

/** Whether anything may leave. */
export const isOpen = (view: View): boolean => isInUse(view) && isOpenToAll(view) && isWanted(view);

/** Why a request is refused, unless both are on. */
export function flagRefusal(view: View): Refused | undefined {
  if (!isOpenToAll(view)) return disabled;
  return isWanted(view) ? undefined : notAllowed;
}
