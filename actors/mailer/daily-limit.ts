/**
 * How many mails were sent today: by an account to others, to its own address, and to one mailbox by all accounts together.
 * Nobody has checked whose an address is. Without these limits anyone who registers could have this server write to anyone.
 *
 * A mailbox is counted by a keyed digest. Its count belongs to no account, so deleting the account and registering again gives
 * no more mails. What accounts send on their first day has a count of its own, a quarter as large: new accounts, which cost
 * nothing where registration is open, use up nothing that others may send. Codes and security notices are not counted at all,
 * so nobody's mail keeps an owner from signing in.
 *
 * A mailbox may stop all mail but codes and security notices (`unsubscribe`). Days are those of UTC.
 */
import { z } from 'zod';
import { command, keys, type PlanResults, type Turn, tell, type View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import { table } from '../../runtime/table.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import { openContent } from './content.ts';
import { Mailer, type SealedMail } from './contract.ts';
import { MailSettings } from './settings.ts';
import { rulesOf } from './sources.ts';

const dayMs = 86_400_000;
const newAccountMs = dayMs;
/** An account has a few to others on its first day. */
const newAccountOthersPerDay = 3;
const newAccountsShare = 4;
const mailboxesMax = 20_000;
/** Accounts on their first day cost nothing to make, so they leave the other half to accounts that are older. */
const mailboxesForNewMax = mailboxesMax / 2;

/** One row for each account and limit that has ever counted, as long as there is the account; and for each stopped mailbox. */
export const mailSenderTable = table({
  name: 'mail_sender',
  columns: { mailer: 'text', user_uuid: 'text', day: 'int8', mails: 'int8' },
  key: ['mailer', 'user_uuid'],
});

const countSchema = z.object({ day: z.int(), mails: z.int() });
type Count = z.infer<typeof countSchema>;

/** By the key of a mailbox, and who writes to it. */
export const mailboxMap = sliceMap<Count>({
  family: 'mailbox-mails',
  format: 1,
  entriesMax: mailboxesMax,
  schema: countSchema,
});

type Counted = Pick<SealedMail, 'id' | 'userUuid' | 'source' | 'content' | 'accountSinceMs'>;

const keyOf = ({ self }: Pick<View, 'self'>, what: string) => ({ mailer: self.id, user_uuid: what });
const stoppedKey = (view: Pick<View, 'self'>, mailbox: string) => keyOf(view, `stopped ${mailbox}`);
const senderKey = (view: Pick<View, 'self'>, { userUuid, source }: Counted) =>
  keyOf(view, rulesOf(source).countedAs === 'to-account' ? `${userUuid} to-account` : userUuid);

/** Undefined: nobody can read whom it is for, so it is never sent. */
function mailboxOf(view: Pick<View, 'use'>, mail: Counted): string | undefined {
  const content = openContent(view.use(UserSecrets), mail, mail.content);
  return content && view.use(SigninKeys).mailboxKey(content.recipient);
}

export const senderPlan = (view: View, mail: Counted) => ({
  sender: keys(mailSenderTable, [senderKey(view, mail), stoppedKey(view, mailboxOf(view, mail) ?? '')]),
});
type SenderReads = PlanResults<ReturnType<typeof senderPlan>>;

/** Whether its mailbox wants no such mail. */
export const isStopped = (turn: Turn, mail: Counted, { sender }: SenderReads): boolean =>
  rulesOf(mail.source).mayBeStopped &&
  sender.get(stoppedKey(turn, mailboxOf(turn, mail) ?? '')) !== undefined;

/** Counts one more. Otherwise milliseconds until it may be sent: there were as many as may be. */
export function countMail(turn: Turn, mail: Counted, { sender }: SenderReads): number | undefined {
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
  if (isFull(ofAccount) || isFull(ofMailbox) || (isCounted && !makeRoom(turn, name, day, isNew))) {
    return (day + 1) * dayMs - turn.nowMs;
  }
  turn.put(mailSenderTable, { ...senderKey(turn, mail), day, mails: ofAccount.mails + 1 });
  if (isCounted) turn.setEntry(mailboxMap, name, { day, mails: ofMailbox.mails + 1 });
  return undefined;
}

const todayOf = (day: number, before: Count | undefined): number => (before?.day === day ? before.mails : 0);
const isFull = ({ mails, max }: { mails: number; max: number }): boolean => max > 0 && mails >= max;

/** False where today's mailboxes are as many as are counted. */
function makeRoom(turn: Turn, name: string, day: number, isNew: boolean): boolean {
  const max = isNew ? mailboxesForNewMax : mailboxesMax;
  if (turn.entry(mailboxMap, name) !== undefined || turn.entries(mailboxMap).size < max) return true;
  return forgetMailboxes(turn, day, 100) > 0;
}

/** Forgets so many that were counted on other days. Returns how many. */
export function forgetMailboxes(turn: Turn, today: number, most: number): number {
  const ended = [...turn.entries(mailboxMap)].filter(([, { day }]) => day !== today).slice(0, most);
  for (const [name] of ended) turn.removeEntry(mailboxMap, name);
  return ended.length;
}

export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs);

export const forgetSenderTell = tell({
  ...Mailer.tells.forgetSender,
  turn: (turn, { userUuid }) => {
    for (const what of [userUuid, `${userUuid} to-account`]) turn.remove(mailSenderTable, keyOf(turn, what));
  },
});

/** For good. */
export const unsubscribeCommand = command({
  ...Mailer.commands.unsubscribe,
  creates: true,
  turn: (turn, { mailbox }) => {
    turn.put(mailSenderTable, { ...stoppedKey(turn, mailbox), day: dayOf(turn.nowMs), mails: 0 });
    return {};
  },
});
