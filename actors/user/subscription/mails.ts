/** The mails of subscriptions. */
import { type Turn, tell } from '../../../runtime/command.ts';
import { subscriptionTokenAgeMs } from '../../identity/subscription-tokens.ts';
import { mailAddress } from '../../mailer/address.ts';
import { sealMail, tellToRecall, tellToSend } from '../../mailer/outgoing.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { Subscription } from './contract.ts';
import { mintToken } from './tokens.ts';

interface Invited {
  readonly uuid: string;
  readonly inviter: string;
  readonly invitee: string;
}

const inviteMailId = (inviteUuid: string): string => `invite:${inviteUuid}`;

/** Where no mail can be sent, the invite is there all the same. */
export function mailInvite(turn: Turn, { uuid, inviter, invitee }: Invited): void {
  const text = [
    `${inviter} invites you to share a subscription for notes.`,
    '',
    `To accept, sign in as ${invitee} where ${inviter} has an account, and give your app this invite:`,
    '',
    `    ${uuid}`,
    '',
    'If you do not know who that is, there is nothing you need to do.',
  ];
  const mail = {
    id: inviteMailId(uuid),
    source: 'invite' as const,
    userUuid: turn.self.id,
    recipient: invitee,
    accountSinceMs: turn.get(profileSlice).createdAtMs,
    subject: 'You are invited to share a subscription',
    text: text.join('\n'),
  };
  tellToSend(turn, sealMail(turn, mail));
}

/** Nobody is invited any more by a mail that has not left. */
export function recallInvite(turn: Turn, inviteUuid: string): void {
  tellToRecall(turn, inviteMailId(inviteUuid));
}

/** Asked for by anybody who knows the address: nobody but its owner gets to see it. */
export const mailSubscriptionToken = tell({
  ...Subscription.tells.mailSubscriptionToken,
  turn: (turn, { email: asked }) => {
    const { state, email } = turn.get(profileSlice);
    const isTheirs = state === 'active' && email === asked;
    if (!isTheirs || isBanned(turn) || mailAddress(email) === undefined) return;
    const text = [
      'This token shows an app the subscription and the features of your account:',
      '',
      `    ${mintToken(turn)}`,
      '',
      'It is valid for three hours, and opens nothing else. If you did not ask for it, there is nothing you need to do.',
    ];
    const mail = {
      id: `subscription-token:${turn.random.uuid()}`,
      source: 'other' as const,
      userUuid: turn.self.id,
      recipient: email,
      expiresAtMs: turn.nowMs + subscriptionTokenAgeMs,
      subject: 'Your subscription token',
      text: text.join('\n'),
    };
    tellToSend(turn, sealMail(turn, mail));
  },
});
