/**
 * How many mails an account has had sent today: to others, and to its own address, which nobody has checked to be its owner's.
 * Anyone who registers could otherwise have this server write to anyone, as often as they like. Days are those of UTC.
 */
import { keys, type PlanResults, type Turn, tell, type View } from '../../runtime/command.ts';
import { table } from '../../runtime/table.ts';
import { Mailer } from './contract.ts';
import { MailSettings } from './settings.ts';
import type { CountedAs } from './sources.ts';

const dayMs = 86_400_000;

/** One row for each account and limit that has ever counted, as long as there is the account. */
export const mailSenderTable = table({
  name: 'mail_sender',
  columns: { mailer: 'text', user_uuid: 'text', day: 'int8', mails: 'int8' },
  key: ['mailer', 'user_uuid'],
});

const keyOf = ({ self }: Pick<View, 'self'>, userUuid: string, countedAs: CountedAs) => ({
  mailer: self.id,
  user_uuid: countedAs === 'to-others' ? userUuid : `${userUuid} ${countedAs}`,
});

export const senderPlan = (view: View, userUuid: string, countedAs: CountedAs = 'to-others') => ({
  sender: keys(mailSenderTable, [keyOf(view, userUuid, countedAs)]),
});

/** Counts one more. Otherwise milliseconds until it may: there were as many as may be. */
export function countMail(
  turn: Turn,
  userUuid: string,
  countedAs: CountedAs,
  { sender }: PlanResults<ReturnType<typeof senderPlan>>,
): number | undefined {
  const { othersPerDay, accountPerDay } = turn.use(MailSettings);
  const perDay = countedAs === 'to-others' ? othersPerDay : accountPerDay;
  const day = Math.floor(turn.nowMs / dayMs);
  const before = sender.get(keyOf(turn, userUuid, countedAs));
  const mails = before?.day === day ? before.mails : 0;
  if (perDay > 0 && mails >= perDay) return (day + 1) * dayMs - turn.nowMs;
  turn.put(mailSenderTable, { ...keyOf(turn, userUuid, countedAs), day, mails: mails + 1 });
  return undefined;
}

export const forgetSenderTell = tell({
  ...Mailer.tells.forgetSender,
  turn: (turn, { userUuid }) => {
    for (const countedAs of ['to-others', 'to-account'] as const) {
      turn.remove(mailSenderTable, keyOf(turn, userUuid, countedAs));
    }
  },
});
