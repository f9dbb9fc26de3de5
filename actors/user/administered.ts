/**
 * For features that one actor keeps for the whole server, and that only administrators may change. An administrator asks their
 * own actor. It checks that the account is an administrator's, and passes the request on.
 */
import type { Workflow } from '../../runtime/command.ts';
import { OverloadedError, RetryableError, UnavailableError } from '../../runtime/errors.ts';
import { type Answer, isRefused, type Refused } from '../reply.ts';
import type { SignedInShape } from '../signed-in.ts';
import { adminRequired } from './profile.ts';
import { mayAdminister } from './sessions/session.ts';
import { signedInWorkflow } from './signed-in.ts';

interface Administration<Asks> {
  readonly askOf: (actors: Workflow['actors']) => Asks;
  /** The answer while that actor cannot be reached. */
  readonly unavailable: Refused;
}

export function adminForwarder<Asks>({ askOf, unavailable }: Administration<Asks>) {
  return <Fields, Ok>(
    shape: SignedInShape<Fields, Ok>,
    ask: (asks: Asks, request: Fields & { readonly by: string }) => Promise<Answer<Ok>>,
  ) =>
    signedInWorkflow(shape, async (workflow, { credentials: _, ...fields }): Promise<Ok | Refused> => {
      await workflow.turn({ turn: (turn, _reads, by) => (mayAdminister(turn, by) ? {} : adminRequired) });
      try {
        const request = { ...(fields as unknown as Fields), by: workflow.self.id };
        const answer = await ask(askOf(workflow.actors), request);
        return isRefused(answer) ? { refused: answer.refused } : answer.ok;
      } catch (error) {
        if (isPassing(error)) return unavailable;
        throw error;
      }
    });
}

/**
 * The request had no effect for certain. Where it may have had one, the error goes on to the gateway, which repeats the call
 * under the same id.
 */
const isPassing = (error: unknown): boolean =>
  error instanceof OverloadedError ||
  error instanceof UnavailableError ||
  (error instanceof RetryableError && error.outcome === 'none');
