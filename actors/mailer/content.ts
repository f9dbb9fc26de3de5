/** The content of a mail, sealed for the account that sends it and bound to its id. */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import { attachmentSchema } from './contract.ts';

const contentSchema = z.object({
  recipient: z.string(),
  subject: z.string(),
  text: z.string(),
  attachment: attachmentSchema.optional(),
});
export type Content = z.infer<typeof contentSchema>;

interface MailOwner {
  readonly id: string;
  readonly userUuid: string;
}

const sealedFor = ({ id, userUuid }: MailOwner) => ({ userUuid, purpose: `mail:${id}` });

export function sealContent(turn: Pick<Turn, 'use' | 'random'>, mail: MailOwner, content: Content): Buffer {
  return turn.use(UserSecrets).seal(sealedFor(mail), JSON.stringify(content), turn.random);
}

/** Undefined if it was sealed under another root secret, or altered. */
export function openContent(secrets: UserSecrets, mail: MailOwner, sealed: Uint8Array): Content | undefined {
  try {
    return contentSchema.parse(JSON.parse(secrets.open(sealedFor(mail), sealed)));
  } catch {
    return undefined;
  }
}
