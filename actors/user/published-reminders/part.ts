/** The published reminders of an account (docs/protocol/delivery.md, "Published reminders"). */
import { UserSecrets } from '../../identity/user-secrets.ts';
import { Messengers } from '../../messengers/messengers.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { PublishedReminders } from './contract.ts';
import { deliverRemindersJob } from './deliver.ts';
import { deliverySlice } from './delivery-config.ts';
import { publishedReminderCommands } from './publish.ts';
import { publishedReminderMap } from './published-reminder.ts';
import {
  armNext,
  forgetDeliveries,
  pauseDeliveries,
  publishedMailOutcome,
  watchDeliveriesTimer,
} from './watch.ts';

export const publishedReminders = userPart(PublishedReminders, {
  name: 'published-reminders',
  uses: [AccountSettings, Messengers, UserSecrets],
  slices: [deliverySlice, publishedReminderMap],
  commands: publishedReminderCommands,
  timers: { watchDeliveries: watchDeliveriesTimer },
  jobs: { deliverReminders: deliverRemindersJob },
  on: {
    accountDeleted: forgetDeliveries,
    banned: pauseDeliveries,
    unbanned: armNext,
    mailOutcome: { listener: 'published', turn: publishedMailOutcome },
  },
});
