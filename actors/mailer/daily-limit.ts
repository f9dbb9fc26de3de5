/**
 * Daily limits of mails: from an account to others, to its own address, and to one mailbox from all accounts together. The server
 * does not check who owns an address. Without these limits any account could make this server write to anyone.
 *
 * A mailbox is counted by a keyed digest. Its count belongs to no account, so deleting the account and registering again gives no
 * more mails. Mails of accounts on their first day have a count of their own, a quarter as large. So new accounts, which cost
 * nothing where registration is open, do not use up the mails of others. Codes and security notices are not counted, so other mail
 * never keeps an owner from signing in.
 *
 * A mailbox may stop all mail but codes and security notices (`unsubscribe`). Days are those of UTC.
 */
import { z } from 'zod';
import { command, keys, type PlanResults, type Turn, tell, type View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import { table } from '../../runtime/table.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import { dayOf, endOfDayMs } from '../times.ts';
import { openContent } from './content.ts';
import { Mailer, type SealedMail } from './contract.ts';
import { deadMap } from './dead.ts';
import { dropDead } from './queue-table.ts';
import { MailSettings } from './settings.ts';
import { rulesOf } from './sources.ts';

const newAccountMs = 86_400_000;
/** Mails to others that an account may send on its first day. */
const newAccountOthersPerDay = 3;
const newAccountsShare = 4;
const mailboxesMax = 20_000;
/** The share of counted mailboxes that accounts on their first day may use. The rest is for older accounts. */
const mailboxesForNewMax = mailboxesMax / 2;

/** One row for each account and limit that was ever used, until the account is deleted, and one for each stopped mailbox. */
export const mailSenderTable = table({
  name: 'mail_sender',
  columns: { mailer: 'text', user_uuid: 'text', day: 'int8', mails: 'int8' },
  key: ['mailer', 'user_uuid'],
});

const countSchema = z.object({ day: z.int(), mails: z.int() });
type Count = z.infer<typeof countSchema>;

/** Keyed by the key of a mailbox, and by the kind of sender. */
export const mailboxMap = sliceMap<Count>({
  family: 'mailbox-mails',
  entriesMax: mailboxesMax,
  schema: countSchema,
});

type LimitedMail = Pick<SealedMail, 'id' | 'userUuid' | 'source' | 'content' | 'accountSinceMs'>;

const keyOf = ({ self }: Pick<View, 'self'>, what: string) => ({ mailer: self.id, user_uuid: what });
const stoppedKey = (view: Pick<View, 'self'>, mailbox: string) => keyOf(view, `stopped ${mailbox}`);
const senderKey = (view: Pick<View, 'self'>, { userUuid, source }: LimitedMail) =>
  keyOf(view, rulesOf(source).countedAs === 'to-account' ? `${userUuid} to-account` : userUuid);

/** Undefined if its recipient cannot be read. Such a mail is never sent. */
function mailboxOf(view: Pick<View, 'use'>, mail: LimitedMail): string | undefined {
  const content = openContent(view.use(UserSecrets), mail, mail.content);
  return content && view.use(SigninKeys).mailboxKey(content.recipient);
}

export const senderPlan = (view: View, mail: LimitedMail) => ({
  sender: keys(mailSenderTable, [senderKey(view, mail), stoppedKey(view, mailboxOf(view, mail) ?? '')]),
});
type SenderReads = PlanResults<ReturnType<typeof senderPlan>>;

/** Whether its mailbox has stopped such mail. */
export const isStopped = (turn: Turn, mail: LimitedMail, { sender }: SenderReads): boolean =>
  rulesOf(mail.source).mayBeStopped &&
  sender.get(stoppedKey(turn, mailboxOf(turn, mail) ?? '')) !== undefined;

/** Counts one more mail. If the limit is reached, it returns the milliseconds until the mail may be sent. */
export function countMail(turn: Turn, mail: LimitedMail, { sender }: SenderReads): number | undefined {
  const { countedAs } = rulesOf(mail.source);
  if (countedAs === undefined) return undefined;
  const { othersPerDay, accountPerDay, mailboxPerDay } = turn.use(MailSettings);
  const day = dayOf(turn.nowMs);
  const isNew = mail.accountSinceMs !== undefined && turn.nowMs - mail.accountSinceMs < newAccountMs;
  const isToOthers = countedAs === 'to-others';
  const most = isToOthers ? othersPerDay : accountPerDay;
  const ofAccount = {
    mails: todayOf(day, sender.get(senderKey(turn, mail))),
    max: isToOthers && isNew ? Math.min(most, newAccountOthersPerDay) : most,
  };
  const mailbox = mailboxOf(turn, mail);
  const name = `${mailbox} ${isToOthers && isNew ? 'to-others-by-new' : countedAs}`;
  const ofOthers = isNew ? Math.ceil(mailboxPerDay / newAccountsShare) : mailboxPerDay;
  const ofMailbox = {
    mails: todayOf(day, turn.entry(mailboxMap, name)),
    max: isToOthers ? ofOthers : accountPerDay,
  };
  const isCounted = mailbox !== undefined && ofMailbox.max > 0;
  if (isFull(ofAccount) || isFull(ofMailbox) || (isCounted && !reserveCounter(turn, name, day, isNew))) {
    return endOfDayMs(turn.nowMs) - turn.nowMs;
  }
  turn.put(mailSenderTable, { ...senderKey(turn, mail), day, mails: ofAccount.mails + 1 });
  if (isCounted) turn.setEntry(mailboxMap, name, { day, mails: ofMailbox.mails + 1 });
  return undefined;
}

const todayOf = (day: number, before: Count | undefined): number => (before?.day === day ? before.mails : 0);
const isFull = ({ mails, max }: { mails: number; max: number }): boolean => max > 0 && mails >= max;

/** False if too many mailboxes are counted today. */
function reserveCounter(turn: Turn, name: string, day: number, isNew: boolean): boolean {
  const max = isNew ? mailboxesForNewMax : mailboxesMax;
  if (turn.entry(mailboxMap, name) !== undefined || turn.entries(mailboxMap).size < max) return true;
  return forgetMailboxes(turn, day, 100) > 0;
}

/** Forgets up to so many counts of other days. Returns how many. */
export function forgetMailboxes(turn: Turn, today: number, most: number): number {
  const ended = [...turn.entries(mailboxMap)].filter(([, { day }]) => day !== today).slice(0, most);
  for (const [name] of ended) turn.removeEntry(mailboxMap, name);
  return ended.length;
}

export const forgetSenderTell = tell(Mailer.tells.forgetSender, (turn, { userUuid }) => {
  for (const what of [userUuid, `${userUuid} to-account`]) turn.remove(mailSenderTable, keyOf(turn, what));
  dropDead(turn, userUuid, turn.entry(deadMap, userUuid) ?? []);
});

/** Bars this mailbox from further mails for good. */
export const unsubscribeCommand = command(Mailer.commands.unsubscribe, {
  creates: true,
  turn: (turn, { mailbox }) => {
    turn.put(mailSenderTable, { ...stoppedKey(turn, mailbox), day: dayOf(turn.nowMs), mails: 0 });
    return {};
  },
});
