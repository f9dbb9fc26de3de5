/** What the mail queue asks of an account for its backups, and their timer. No session is checked, so the gateway may not see it. */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { mailAttachmentShape } from '../../mailer/contract.ts';

export const MailBackups = contract({
  name: 'user',
  commands: { mailAttachment: mailAttachmentShape },
  timers: {
    /** A backup is due. */
    mailBackup: z.null(),
  },
});
