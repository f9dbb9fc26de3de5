/**
 * Mails that tell users what happened to their account (docs/protocol/account.md, "Mails about the account"). The mailer is told
 * of each in the commit of the event, and drops the mail if there is no relay. An account whose name is no e-mail address gets
 * none.
 */
import type { Turn } from '../../runtime/command.ts';
import { mailAddress } from '../mailer/address.ts';
import { isoTime } from '../times.ts';
import type { EventOrigin } from './audit/trail.ts';
import { sendMail, textOf } from './mails.ts';
import { deviceInfo } from './sessions/device-info.ts';
import { settingValue } from './settings/stored.ts';

const ifItWasYou = 'If it was you, there is nothing to do.';
const ifNot =
  'If it was not, change your password, and end the sessions that you do not know: your app lists them under its account ' +
  'settings.';

/** Users may mute this mail, because every new device causes one. */
export function noteNewDevice(turn: Turn, email: string, from: EventOrigin): void {
  if (settingValue(turn, 'MUTE_SIGN_IN_EMAILS') === 'muted') return;
  const where = from.ipAddress === null ? [] : [`Address: ${from.ipAddress}`];
  send(turn, email, 'New sign-in to your notes', [
    'Somebody signed in to your account with your password, from a device and a network that were not known before.',
    [`Time: ${isoTime(turn.nowMs)}`, `Device: ${deviceInfo(from.userAgent)}`, ...where].join('\n'),
    `${ifItWasYou} ${ifNot}`,
  ]);
}

/**
 * Goes to the address that the account gives up. It does not name the new one, which may be an intruder's, or a secret of the
 * user.
 */
export function noteMove(turn: Turn, oldEmail: string): void {
  send(turn, oldEmail, 'The address of your notes has changed', [
    'The account that had this e-mail address has another one now. From now on this address signs in to nothing, and no mail ' +
      'about the account comes here any more.',
    `Time: ${isoTime(turn.nowMs)}`,
    `${ifItWasYou} If it was not, ask whoever runs this server for help at once.`,
  ]);
}

export function noteRecovery(turn: Turn, email: string): void {
  send(turn, email, 'Recovery codes were used to sign in to your notes', [
    'Somebody signed in to your account with your password and your recovery codes. That has turned its second factor off, ' +
      'and the codes do not work any more.',
    `Time: ${isoTime(turn.nowMs)}`,
    `${ifItWasYou} ${ifNot}`,
  ]);
}

export function noteFactorReset(turn: Turn, email: string): void {
  send(turn, email, 'The second factor of your notes was turned off', [
    'The operator of this server has turned the second factor of your account off. From now on your password alone signs in.',
    `Time: ${isoTime(turn.nowMs)}`,
    'If you asked for it, turn a second factor on again after you have signed in. If you did not, change your password, and ' +
      'ask the operator who asked.',
  ]);
}

function send(turn: Turn, email: string, subject: string, paragraphs: readonly string[]): void {
  const recipient = mailAddress(email);
  if (recipient === undefined) return;
  const id = `notice:${turn.random.uuid()}`;
  sendMail(turn, { id, source: 'security-notice', recipient, subject, text: textOf(paragraphs) });
}
