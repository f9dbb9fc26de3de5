/**
 * How many mails an account has had sent to others today. Anyone who registers could otherwise have this server write to
 * anyone, as often as they like. Days are those of UTC.
 */
import { keys, type PlanResults, type Turn, tell, type View } from '../../runtime/command.ts';
import { table } from '../../runtime/table.ts';
import { MailSettings } from '../settings.ts';
import { Mailer } from './contract.ts';

const dayMs = 86_400_000;

/** One row for each account that has ever sent to others, as long as there is the account. */
export const mailSenderTable = table({
  name: 'mail_sender',
  columns: { mailer: 'text', user_uuid: 'text', day: 'int8', mails: 'int8' },
  key: ['mailer', 'user_uuid'],
});

const keyOf = (view: Pick<View, 'self'>, userUuid: string) => ({ mailer: view.self.id, user_uuid: userUuid });

export const senderPlan = (view: View, userUuid: string) => ({
  sender: keys(mailSenderTable, [keyOf(view, userUuid)]),
});

/** Counts one more. Otherwise milliseconds until it may: there were as many as may be. */
export function countToOthers(
  turn: Turn,
  userUuid: string,
  { sender }: PlanResults<ReturnType<typeof senderPlan>>,
): number | undefined {
  const { othersPerDay } = turn.use(MailSettings);
  const day = Math.floor(turn.nowMs / dayMs);
  const before = sender.get(keyOf(turn, userUuid));
  const mails = before?.day === day ? before.mails : 0;
  if (othersPerDay > 0 && mails >= othersPerDay) return (day + 1) * dayMs - turn.nowMs;
  turn.put(mailSenderTable, { ...keyOf(turn, userUuid), day, mails: mails + 1 });
  return undefined;
}

export const forgetSenderTell = tell({
  ...Mailer.tells.forgetSender,
  turn: (turn, { userUuid }) => turn.remove(mailSenderTable, keyOf(turn, userUuid)),
});
