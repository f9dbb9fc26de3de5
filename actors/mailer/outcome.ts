/** Reports the outcome of a mail to its listener: the actor that asked to be told, if the mail names one. */
import type { Turn } from '../../runtime/command.ts';
import { contract } from '../../runtime/contract.ts';
import { type MailOutcome, mailOutcomeSchema, type SealedMail } from './contract.ts';
import type { MailRow } from './queue-table.ts';

type OutcomeFields = Pick<MailOutcome, 'id' | 'outcome'> & Partial<Omit<MailOutcome, 'key' | 'atMs'>>;
const nothingElse = { attempts: 0, failure: null, refusal: null, nextAttemptAtMs: null } as const;

export function tellOutcome(turn: Turn, listener: SealedMail['listener'], outcome: OutcomeFields): void {
  if (listener === undefined) return;
  const { kind, id, key } = listener;
  const { name, tells } = contract({ name: kind, tells: { mailOutcome: mailOutcomeSchema } });
  turn.tell({ name, tells }, id).mailOutcome({ ...nothingElse, ...outcome, key, atMs: turn.nowMs });
}

type RecalledMail = Pick<MailRow, 'id' | 'listener' | 'attempts' | 'message_id'>;

export function tellRecalled(turn: Turn, { id, listener, attempts, message_id }: RecalledMail): void {
  tellOutcome(turn, listenerOf(listener), {
    id,
    outcome: 'recalled',
    attempts,
    messageId: message_id ?? undefined,
  });
}

export const listenerOf = (text: string | null): SealedMail['listener'] =>
  text === null ? undefined : JSON.parse(text);
