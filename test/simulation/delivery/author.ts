/** A purpose-made kind that writes letters: mails that are owed from the commit that records them. */
import { z } from 'zod';
import { UserSecrets } from '../../../actors/identity/user-secrets.ts';
import { type MailOutcome, mailOutcomeSchema, mailSourceSchema } from '../../../actors/mailer/contract.ts';
import { sealMail, tellToSend } from '../../../actors/mailer/outgoing.ts';
import { command, tell } from '../../../runtime/command.ts';
import { kind } from '../../../runtime/kind.ts';
import { slice } from '../../../runtime/slice.ts';

/** Ids of the letters, in the order in which they were written. */
const letters = slice<readonly string[]>({
  name: 'letters',
  format: 1,
  schema: z.array(z.string()),
  initial: [],
});
const outcomes = slice<readonly Pick<MailOutcome, 'id' | 'outcome'>[]>({
  name: 'outcomes',
  format: 1,
  schema: z.array(mailOutcomeSchema.pick({ id: true, outcome: true })),
  initial: [],
});

export const authorKind = kind({
  name: 'author',
  uses: [UserSecrets],
  slices: [letters, outcomes],
  commands: {
    write: command(
      { request: z.object({ id: z.string(), source: mailSourceSchema }), reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, { id, source }) => {
          const { self } = turn;
          turn.set(letters, [...turn.get(letters), id]);
          const listener = { kind: self.kind, id: self.id, key: id };
          const content = { recipient: `${id}@letters.test`, subject: 'A letter', text: id };
          tellToSend(turn, sealMail(turn, { id, source, userUuid: self.id, listener, ...content }));
          return null;
        },
      },
    ),
  },
  tells: {
    mailOutcome: tell({ payload: mailOutcomeSchema }, (turn, { id, outcome }) =>
      turn.set(outcomes, [...turn.get(outcomes), { id, outcome }]),
    ),
  },
});
