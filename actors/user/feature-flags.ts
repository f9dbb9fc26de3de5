/**
 * Features that run for an account only if the operator offers them and the user has turned them on. Both are read each time that
 * something depends on them.
 */
import type { View } from '../../runtime/command.ts';
import { type Refused, refuse } from '../reply.ts';
import { AccountSettings } from '../settings.ts';
import type { SettingName } from './settings/known.ts';
import { settingValue } from './settings/stored.ts';

interface FeatureFlag {
  /** Whether the operator offers it to all accounts. */
  isOffered(view: View): boolean;
  /** Whether the user of this account has turned it on. */
  isTurnedOn(view: View): boolean;
  isOn(view: View): boolean;
  /** Why a request is refused. Undefined: the feature is on. */
  refusal(view: View): Refused | undefined;
}

function featureFlag(flag: {
  readonly offer: 'calendar' | 'reminderDelivery';
  readonly setting: SettingName;
  readonly notOffered: Refused;
  readonly notTurnedOn: Refused;
}): FeatureFlag {
  const isOffered = (view: View) => view.use(AccountSettings)[flag.offer];
  const isTurnedOn = (view: View) => settingValue(view, flag.setting)?.toLowerCase() === 'true';
  return {
    isOffered,
    isTurnedOn,
    isOn: (view) => isOffered(view) && isTurnedOn(view),
    refusal(view) {
      if (!isOffered(view)) return flag.notOffered;
      return isTurnedOn(view) ? undefined : flag.notTurnedOn;
    },
  };
}

export const calendarFeed = featureFlag({
  offer: 'calendar',
  setting: 'CALDAV_ENABLED',
  notOffered: refuse.forbidden('This server has no calendar feed.', 'caldav-disabled'),
  notTurnedOn: refuse.forbidden('Turn on the calendar feed for your account first.', 'caldav-not-allowed'),
});

export const reminderDelivery = featureFlag({
  offer: 'reminderDelivery',
  setting: 'REMINDER_DELIVERY_ENABLED',
  notOffered: refuse.forbidden('This server does not deliver reminders.', 'reminder-delivery-disabled'),
  notTurnedOn: refuse.forbidden(
    'Turn on the delivery of reminders for your account first.',
    'reminder-delivery-not-allowed',
  ),
});
