/**
 * What administrators ask of the one actor that has something for the whole server: each asks the own actor, which decides
 * whether its account is an administrator's, and asks that one.
 */

import type { Workflow } from '../../runtime/command.ts';
import { OverloadedError, RetryableError, UnavailableError } from '../../runtime/errors.ts';
import { type Answer, isRefused, type Refused } from '../reply.ts';
import type { SignedInShape } from '../signed-in.ts';
import { adminRequired, mayAdminister } from './admin-role.ts';
import { signedInWorkflow } from './signed-in.ts';

interface Administration<Asks> {
  readonly actorOf: (actors: Workflow['actors']) => Asks;
  /** While that actor cannot be reached. */
  readonly unavailable: Refused;
}

export function administeredBy<Asks>({ actorOf, unavailable }: Administration<Asks>) {
  return <Fields, Ok>(
    shape: SignedInShape<Fields, Ok>,
    ask: (asks: Asks, asked: Fields & { readonly by: string }) => Promise<Answer<Ok>>,
  ) =>
    signedInWorkflow({
      ...shape,
      run: async (workflow, asked): Promise<Ok | Refused> => {
        await workflow.turn({ turn: (turn, _reads, by) => (mayAdminister(turn, by) ? {} : adminRequired) });
        try {
          const answer = await ask(actorOf(workflow.actors), { ...asked, by: workflow.self.id });
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
