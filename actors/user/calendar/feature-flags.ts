/** The operator's feature flag and the user's. Both have to be on for anything that publishes, or that a program reads. */
import type { View } from '../../../runtime/command.ts';
import { type Refused, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { settingValue } from '../settings/stored.ts';

const disabled = refuse.forbidden('This server has no calendar feed.', 'caldav-disabled');
const notAllowed = refuse.forbidden(
  'Turn on the calendar feed for your account first.',
  'caldav-not-allowed',
);

export const isOpenToAll = (view: View): boolean => view.use(AccountSettings).calendar;

export const isWanted = (view: View): boolean =>
  settingValue(view, 'CALDAV_ENABLED')?.toLowerCase() === 'true';

/** Why a request is refused, unless both are on. */
export function flagRefusal(view: View): Refused | undefined {
  if (!isOpenToAll(view)) return disabled;
  return isWanted(view) ? undefined : notAllowed;
}
