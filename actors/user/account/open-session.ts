import { command, type KeysResult, keys, type Turn } from '../../../runtime/command.ts';
import { accountTable } from '../../identity/account-table.ts';
import { sessionUuidOf } from '../../identity/session.ts';
import { audit } from '../audit/trail.ts';
import { restoreFactors } from '../factors/restore.ts';
import type { RaisedHooks } from '../hooks.ts';
import { noteNewDevice, noteRecovery } from '../notices.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { grantAccess } from '../sessions/issue.ts';
import { Account } from './contract.ts';

export const openSession = (hooks: RaisedHooks) =>
  command({
    ...Account.commands.openSession,
    repeat: 'recorded',
    reads: (view, { newHash }) => ({
      account: keys(accountTable, newHash === undefined ? [] : [{ user_uuid: view.self.id }]),
    }),
    turn: (
      turn,
      { credentialsVersion, email, workspace, recoveryCodes, isNewDevice, newHash, ...newSession },
      { account },
    ) => {
      const profile = turn.get(profileSlice);
      const isCurrent =
        profile.state === 'active' &&
        profile.credentialsVersion === credentialsVersion &&
        profile.email === email &&
        profile.workspace === workspace;
      if (!isCurrent) return { stale: true } as const;
      if (isBanned(turn)) {
        audit(turn, 'sign-in-refused-by-ban', newSession.device);
        return { banned: true } as const;
      }
      if (!isRecovered(turn, recoveryCodes)) return { stale: true } as const;
      if (newHash !== undefined) replaceHash(turn, newHash, account);
      for (const signedIn of hooks('signedIn')) signedIn(turn);
      const { protocolVersion } = profile;
      const issued = grantAccess(turn, protocolVersion, { ...newSession, readonly: false });
      if (recoveryCodes !== undefined) {
        audit(turn, 'recovery-codes-used', newSession.device);
        noteRecovery(turn, email);
      } else if (isNewDevice) noteNewDevice(turn, email, newSession.device);
      const event = isNewDevice ? 'signed-in-from-new-device' : 'signed-in';
      audit(turn, event, newSession.device, sessionUuidOf(issued));
      return { issued, protocolVersion };
    },
  });

const isRecovered = (turn: Turn, recoveryCodes: string | undefined): boolean =>
  recoveryCodes === undefined || restoreFactors(turn, recoveryCodes);

function replaceHash(turn: Turn, newHash: string, account: KeysResult<typeof accountTable>): void {
  const row = account.get({ user_uuid: turn.self.id });
  if (row !== undefined) turn.put(accountTable, { ...row, password_hash: newHash });
}
