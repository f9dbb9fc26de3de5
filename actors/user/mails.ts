/** How an account sends mail, and learns what became of it. */
import { type Turn, tell, type View } from '../../runtime/command.ts';
import type { SealedMail } from '../mailer/contract.ts';
import { type Mail, sealMail, tellToSend } from '../mailer/outgoing.ts';
import { Account } from './account/contract.ts';
import { User } from './contract.ts';
import type { RaisedHooks } from './hooks.ts';

/** Seals the mail, and tells the queue of it with the commit of this turn. */
export const sendMail = (turn: Turn, mail: Omit<Mail, 'userUuid'>): void =>
  tellToSend(turn, sealMail(turn, { ...mail, userUuid: turn.self.id }));

export const textOf = (paragraphs: readonly string[]): string => `${paragraphs.join('\n\n')}\n`;

/**
 * Makes the mail queue report to this actor. The report goes to the part that listens by this name (`mailOutcome` in
 * `hooks.ts`). It names the entry and the round of the mail.
 */
export function listenerFor(
  view: View,
  listener: string,
  uuid: string,
  round: number,
): SealedMail['listener'] {
  return { kind: User.name, id: view.self.id, key: `${listener}/${uuid}/${round}` };
}

export const mailOutcomeTell = (hooks: RaisedHooks) =>
  tell(Account.tells.mailOutcome, (turn, outcome) => {
    const [name, uuid = '', round = ''] = outcome.key.split('/');
    for (const { listener, turn: noted } of hooks('mailOutcome')) {
      if (listener === name) noted(turn, uuid, Number(round), outcome);
    }
  });
