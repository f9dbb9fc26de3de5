import { command, type Turn } from '../../../runtime/command.ts';
import { sessionUuidOf } from '../../identity/session.ts';
import { audit } from '../audit/trail.ts';
import { isBanned } from '../ban.ts';
import { restoreFactors } from '../factors/restore.ts';
import { noteNewDevice, noteRecovery } from '../notices.ts';
import { profileSlice } from '../profile.ts';
import { grantAccess } from '../sessions/issue.ts';
import { Account } from './contract.ts';

export const openSession = command({
  ...Account.commands.openSession,
  repeat: 'recorded',
  turn: (turn, { credentialsVersion, email, workspace, recoveryCodes, isNewDevice, ...wanted }) => {
    const profile = turn.get(profileSlice);
    const stands =
      profile.state === 'active' &&
      profile.credentialsVersion === credentialsVersion &&
      profile.email === email &&
      profile.workspace === workspace;
    if (!stands) return { stale: true } as const;
    if (isBanned(turn)) {
      audit(turn, 'sign-in-refused-by-ban', wanted.device);
      return { banned: true } as const;
    }
    if (!isRecovered(turn, recoveryCodes)) return { stale: true } as const;
    const { protocolVersion } = profile;
    const issued = grantAccess(turn, protocolVersion, { ...wanted, readonly: false });
    if (recoveryCodes !== undefined) {
      audit(turn, 'recovery-codes-used', wanted.device);
      noteRecovery(turn, email);
    } else if (isNewDevice) noteNewDevice(turn, email, wanted.device);
    const event = isNewDevice ? 'signed-in-from-new-device' : 'signed-in';
    audit(turn, event, wanted.device, sessionUuidOf(issued));
    return { issued, protocolVersion };
  },
});

const isRecovered = (turn: Turn, recoveryCodes: string | undefined): boolean =>
  recoveryCodes === undefined || restoreFactors(turn, recoveryCodes);
