/** What the `user` actor asks of an address's `signin` actor. */
import { z } from 'zod';
import { command, type TurnCommand } from '../../runtime/command.ts';
import type { KindRef } from '../../runtime/kind.ts';
import type { SigninServices } from '../services.ts';
import { debitAttempt } from './attempts.ts';
import { storeChallenge } from './challenges.ts';
import { expireLater } from './expiry.ts';

/** For a signed-in caller of `login-params`, whose own actor has the key params. */
export function storeChallengeCommand({
  settings,
}: SigninServices): TurnCommand<{ codeChallenge: string }, Record<never, never>> {
  return command({
    request: z.object({ codeChallenge: z.string() }),
    reply: z.object({}),
    creates: true,
    turn: (turn, { codeChallenge }) => {
      storeChallenge(turn, codeChallenge, settings.challengeAgeMs);
      expireLater(turn);
      return {};
    },
  });
}

/** Before a signed-in caller's password is looked at. */
export function debitCommand({
  settings,
}: SigninServices): TurnCommand<Record<never, never>, { locked: boolean }> {
  return command({
    request: z.object({}),
    reply: z.object({ locked: z.boolean() }),
    creates: true,
    repeat: 'recorded',
    turn: (turn) => {
      const outcome = debitAttempt(turn, settings, true);
      if (outcome === 'debited') expireLater(turn);
      return { locked: outcome === 'locked' };
    },
  });
}

/** The `signin` kind as the `user` actor needs it; it cannot import the whole, which imports `user`. */
export const SigninGuard: KindRef<{
  storeChallenge: ReturnType<typeof storeChallengeCommand>;
  debit: ReturnType<typeof debitCommand>;
}> = { name: 'signin' };
