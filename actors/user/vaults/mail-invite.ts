/**
 * Mails a user about an invite to a shared vault. The invitee's own actor sends the mail, to its own address and within its own
 * limit. So the inviter does not learn whether the user exists, and nobody can flood a mailbox. The mail holds no text of the
 * inviter.
 */
import { z } from 'zod';
import { type Turn, tell } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { mailAddress } from '../../mailer/address.ts';
import { dayOf } from '../../times.ts';
import { VaultSettings } from '../../vault/settings.ts';
import { sendMail } from '../mails.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { Vaults } from './contract.ts';

/** Days are in UTC. */
export const inviteMailSlice = slice({
  name: 'vault-invite-mails',
  schema: z.object({ day: z.int(), mails: z.int() }),
  initial: { day: 0, mails: 0 },
});

const text = [
  'Somebody who has an account on the same server as you invites you to a shared vault: notes that several people read and',
  'write together. To see who it is, and to accept or decline, open your app.',
  '',
  'If you do not know who that is, there is nothing you need to do.',
].join('\n');

export const mailVaultInviteTell = tell(Vaults.tells.mailVaultInvite, (turn, { inviteUuid }) => {
  const { state, email } = turn.get(profileSlice);
  const recipient = mailAddress(email);
  if (state !== 'active' || isBanned(turn) || recipient === undefined || !count(turn)) return;
  const subject = 'You are invited to a shared vault';
  sendMail(turn, { id: `vault-invite:${inviteUuid}`, source: 'other', recipient, subject, text });
});

/** False: there were as many today as there may be. */
function count(turn: Turn): boolean {
  const day = dayOf(turn.nowMs);
  const before = turn.get(inviteMailSlice);
  const mails = before.day === day ? before.mails : 0;
  if (mails >= turn.use(VaultSettings).inviteMailsPerDay) return false;
  turn.set(inviteMailSlice, { day, mails: mails + 1 });
  return true;
}
