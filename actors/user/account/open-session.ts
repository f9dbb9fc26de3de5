import { command } from '../../../runtime/command.ts';
import { User } from '../contract.ts';
import { profileSlice } from '../profile.ts';
import { openSession as open } from '../sessions/issue.ts';

/** The place to check for a ban. */
export const openSession = command({
  ...User.commands.openSession,
  repeat: 'recorded',
  turn: (turn, { credentialsVersion, email, workspace, ...wanted }) => {
    const profile = turn.get(profileSlice);
    const stands =
      profile.state === 'active' &&
      profile.credentialsVersion === credentialsVersion &&
      profile.email === email &&
      profile.workspace === workspace;
    if (!stands) return { stale: true } as const;
    const issued = open(turn, { ...wanted, readonly: false });
    return { issued, protocolVersion: profile.protocolVersion };
  },
});
