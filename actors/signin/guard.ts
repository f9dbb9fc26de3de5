/** The questions of a `user` actor for a `signin` actor. */
import { command } from '../../runtime/command.ts';
import { lockedOut } from './attempts.ts';
import { addChallenge as store } from './challenges.ts';
import { Signin } from './contract.ts';
import { debitAttempt, refusedAttempt, signedInOrigin } from './counting.ts';
import { expireLater } from './expiry.ts';

export const storeChallenge = command({
  ...Signin.commands.storeChallenge,
  creates: true,
  turn: (turn, { codeChallenge }) => {
    store(turn, codeChallenge, signedInOrigin, 'factor');
    expireLater(turn);
    return {};
  },
});

export const debit = command({
  ...Signin.commands.debit,
  creates: true,
  repeat: 'recorded',
  turn: (turn) => {
    if (refusedAttempt(turn, signedInOrigin, true) !== undefined) return { refused: lockedOut };
    debitAttempt(turn, signedInOrigin);
    expireLater(turn);
    return { ok: {} };
  },
});
