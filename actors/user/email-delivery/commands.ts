/**
 * The administration of mail, as administrators ask it of their own actor: it decides whether they are that, and asks the
 * mailer.
 */
import { OverloadedError, RetryableError, UnavailableError } from '../../../runtime/errors.ts';
import type { Ask } from '../../../runtime/handles.ts';
import { mailerId } from '../../mailer/contract.ts';
import { MailAdministration } from '../../mailer/operator-contract.ts';
import { type Answer, isRefused, type Refused } from '../../reply.ts';
import type { SignedInShape } from '../../signed-in.ts';
import { User } from '../contract.ts';
import { adminRequired, isAdministrator } from '../rank.ts';
import { signedInWorkflow } from '../signed-in.ts';

const retryAfterMs = 5_000;
const unavailable: Refused = {
  refused: {
    status: 503,
    tag: 'email-delivery-unavailable',
    message: 'The mail queue cannot be reached at the moment. Please try again.',
    retryAfterMs,
  },
};

type AskMailer = Ask<typeof MailAdministration.commands>;

function administered<Fields, Ok>(
  shape: SignedInShape<Fields, Ok>,
  ask: (mailer: AskMailer, asked: Fields & { readonly by: string }) => Promise<Answer<Ok>>,
) {
  return signedInWorkflow({
    ...shape,
    run: async (workflow, asked): Promise<Ok | Refused> => {
      await workflow.turn({ turn: (turn) => (isAdministrator(turn) ? {} : adminRequired) });
      const mailer = workflow.actors.get(MailAdministration, mailerId).ask;
      try {
        const answer = await ask(mailer, { ...asked, by: workflow.self.id });
        return isRefused(answer) ? { refused: answer.refused } : answer.ok;
      } catch (error) {
        if (isPassing(error)) return unavailable;
        throw error;
      }
    },
  });
}

/** Where the outcome is unknown the gateway asks again under the same call id. */
const isPassing = (error: unknown): boolean =>
  error instanceof OverloadedError ||
  error instanceof UnavailableError ||
  (error instanceof RetryableError && error.outcome === 'none');

export const emailDeliveryCommands = {
  listMailRelays: administered(User.commands.listMailRelays, (mailer) => mailer.listRelays({})),
  setMailRelays: administered(User.commands.setMailRelays, (mailer, { by, relays, fallbackPolicy }) =>
    mailer.setRelays({ by, relays, fallbackPolicy }),
  ),
  testMail: administered(User.commands.testMail, (mailer, { by, recipient, relayId }) =>
    mailer.test({ by, recipient, relayId }),
  ),
  listMailQueue: administered(User.commands.listMailQueue, (mailer, { state, limit, cursor }) =>
    mailer.listQueue({ state, limit, cursor }),
  ),
  listMailLog: administered(User.commands.listMailLog, (mailer, { limit, cursor, relayId, outcome }) =>
    mailer.listLog({ limit, cursor, relayId, outcome }),
  ),
  retryMail: administered(User.commands.retryMail, (mailer, { by, id }) => mailer.retry({ by, id })),
  discardMail: administered(User.commands.discardMail, (mailer, { by, id }) => mailer.discard({ by, id })),
};
