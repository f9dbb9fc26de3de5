import type { Turn } from '../../../runtime/command.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { Signin } from '../../signin/contract.ts';
import { profileSlice } from '../profile.ts';

/** Call in the turn in which a factor is turned on: sign-ins that have begun without it begin again. */
export function askEverybodyAgain(turn: Turn): void {
  const { email, workspace } = turn.get(profileSlice);
  turn.tell(Signin, turn.use(SigninKeys).actorId({ email, workspace })).forgetChallenges();
}
