import { command, type Turn } from '../../../runtime/command.ts';
import { User } from '../contract.ts';
import { restoreFactors } from '../factors/restore.ts';
import { profileSlice } from '../profile.ts';
import { grantAccess } from '../sessions/issue.ts';

/** The place to check for a ban. */
export const openSession = command({
  ...User.commands.openSession,
  repeat: 'recorded',
  turn: (turn, { credentialsVersion, email, workspace, recoveryCodes, ...wanted }) => {
    const profile = turn.get(profileSlice);
    const stands =
      profile.state === 'active' &&
      profile.credentialsVersion === credentialsVersion &&
      profile.email === email &&
      profile.workspace === workspace;
    if (!stands || !isRecovered(turn, recoveryCodes)) return { stale: true } as const;
    const { protocolVersion } = profile;
    return { issued: grantAccess(turn, protocolVersion, { ...wanted, readonly: false }), protocolVersion };
  },
});

const isRecovered = (turn: Turn, recoveryCodes: string | undefined): boolean =>
  recoveryCodes === undefined || restoreFactors(turn, recoveryCodes);
