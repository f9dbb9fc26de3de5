/** What a `user` actor asks of a `signin` actor. */
import { command } from '../../runtime/command.ts';
import { AccountSettings } from '../settings.ts';
import { debitAttempt, lockedOut } from './attempts.ts';
import { storeChallenge as store } from './challenges.ts';
import { Signin } from './contract.ts';
import { expireLater } from './expiry.ts';

export const storeChallenge = command({
  ...Signin.commands.storeChallenge,
  creates: true,
  turn: (turn, { codeChallenge }) => {
    store(turn, codeChallenge, turn.use(AccountSettings).challengeAgeMs);
    expireLater(turn);
    return {};
  },
});

export const debit = command({
  ...Signin.commands.debit,
  creates: true,
  repeat: 'recorded',
  turn: (turn) => {
    const outcome = debitAttempt(turn, true);
    if (outcome === 'locked') return { refused: lockedOut };
    expireLater(turn);
    return { ok: {} };
  },
});
