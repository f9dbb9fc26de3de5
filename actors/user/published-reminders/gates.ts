/** The two gates before published reminders: the operator's and the user's. Both are looked at whenever something hangs on them. */
import type { View } from '../../../runtime/command.ts';
import { type Refused, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { isInUse } from '../profile.ts';
import { settingValue } from '../settings/stored.ts';

const disabled = refuse.forbidden('This server does not deliver reminders.', 'reminder-delivery-disabled');
const notAllowed = refuse.forbidden(
  'Turn on the delivery of reminders for your account first.',
  'reminder-delivery-not-allowed',
);

export const isOpenToAll = (view: View): boolean => view.use(AccountSettings).reminderDelivery;

export const isWanted = (view: View): boolean =>
  settingValue(view, 'REMINDER_DELIVERY_ENABLED')?.toLowerCase() === 'true';

/** Whether anything may leave. */
export const isOpen = (view: View): boolean => isInUse(view) && isOpenToAll(view) && isWanted(view);

/** Why a request is refused, unless both are open. */
export function closedGate(view: View): Refused | undefined {
  if (!isOpenToAll(view)) return disabled;
  return isWanted(view) ? undefined : notAllowed;
}
