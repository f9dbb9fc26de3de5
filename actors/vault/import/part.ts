/**
 * Imports a vault (docs/import.md) with its members and open invites as another server had them. Members and invitees hear of it
 * by the usual tells, and nobody gets a mail.
 */

import type { z } from 'zod';
import {
  command,
  keys,
  type PlanResults,
  range,
  sharedRead,
  type Turn,
  type View,
} from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { collectionImportCommands } from '../../import/collection.ts';
import type { importedInviteSchema, importedMemberSchema } from '../../import/messages.ts';
import { VaultImport } from '../../import/operator-contract.ts';
import { importSlice, isWritable } from '../../import/phase.ts';
import { Inbox } from '../../user/inbox/contract.ts';
import { Vaults } from '../../user/vaults/contract.ts';
import { vaultFiles } from '../files/own-files.ts';
import { vaultPart } from '../hooks.ts';
import { VaultItems } from '../items/contract.ts';
import { dismiss, memberListPlan, vaultKey } from '../member-list.ts';
import { inviteResponse } from '../responses.ts';
import { invitesMax } from '../settings.ts';
import { statusSlice } from '../state.ts';
import { type InviteRow, type MemberRow, memberTable, vaultInviteTable, vaultTable } from '../tables.ts';

const plan = (view: View) => ({
  ...memberListPlan(view),
  invites: range(vaultInviteTable, { after: 0, through: view.get(head).position, limit: invitesMax }),
});
type Reads = PlanResults<ReturnType<typeof plan>>;

const importVault = command(VaultImport.commands.importVault, {
  creates: true,
  reads: plan,
  turn: (turn, imported, reads) => {
    const status = turn.get(statusSlice);
    const { phase } = turn.get(importSlice);
    if (status === 'ended') return { refused: 'ended' as const };
    if (status === 'open' && phase === 'none') return { refused: 'native' as const };
    const before = reads.vaults.get(vaultKey(turn));
    turn.set(statusSlice, 'open');
    turn.set(importSlice, { phase: 'closed', passwordHash: '', locked: false });
    turn.put(vaultTable, {
      vault: turn.self.id,
      position: nextPosition(turn),
      owner_uuid: imported.ownerUuid,
      survivor_uuid: imported.survivorUuid,
      file_bytes: before?.file_bytes ?? 0,
      created_at: imported.createdAt,
      updated_at: imported.updatedAt,
    });
    writeMembers(turn, imported.members, reads);
    writeInvites(turn, imported.invites, reads);
    return { fresh: before === undefined };
  },
});

/** For the commands that compare both servers, and that end what the other one has deleted. */
const importShowVault = sharedRead(VaultImport.commands.importShowVault, {
  reads: plan,
  answer: (view, _request, { vaults, members, invites }) => {
    const row = vaults.get(vaultKey(view));
    return {
      vault:
        row === undefined
          ? null
          : {
              ownerUuid: row.owner_uuid,
              survivorUuid: row.survivor_uuid,
              createdAt: row.created_at,
              updatedAt: row.updated_at,
            },
      members: members.rows.map(({ uuid, member, permission, created_at, updated_at }) => ({
        uuid,
        userUuid: member,
        permission,
        createdAt: created_at,
        updatedAt: updated_at,
      })),
      invites: invites.rows.map((each) => ({
        uuid: each.uuid,
        inviteeUuid: each.invitee,
        senderUuid: each.sender_uuid,
        permission: each.permission,
        encryptedMessage: each.encrypted_message,
        createdAt: each.created_at,
        updatedAt: each.updated_at,
      })),
      isImported: isWritable(view),
    };
  },
});

/** Takes the next position without a new time, as the times are those of the other server. */
function nextPosition(turn: Turn): number {
  const before = turn.get(head);
  const position = before.position + 1;
  turn.set(head, { ...before, position });
  return position;
}

function writeMembers(
  turn: Turn,
  imported: readonly z.infer<typeof importedMemberSchema>[],
  { members }: Reads,
): void {
  const uuids = new Set(imported.map(({ userUuid }) => userUuid));
  for (const gone of members.rows.filter(({ member }) => !uuids.has(member))) {
    dismiss(turn, gone, nextPosition(turn));
  }
  for (const each of imported) {
    const before = members.rows.find(({ member }) => member === each.userUuid);
    const position = nextPosition(turn);
    const row: MemberRow = {
      vault: turn.self.id,
      member: each.userUuid,
      uuid: each.uuid,
      permission: each.permission,
      position,
      membership: before?.membership ?? position,
      created_at: each.createdAt,
      updated_at: each.updatedAt,
    };
    turn.put(memberTable, row);
    if (before === undefined) {
      turn.tell(Vaults, row.member).joined({ vaultUuid: turn.self.id, membership: row.membership });
    }
  }
}

function writeInvites(
  turn: Turn,
  imported: readonly z.infer<typeof importedInviteSchema>[],
  { invites }: Reads,
): void {
  const uuids = new Set(imported.map(({ uuid }) => uuid));
  for (const { invitee, uuid } of invites.rows.filter((row) => !uuids.has(row.uuid))) {
    turn.remove(vaultInviteTable, { vault: turn.self.id, invitee });
    turn.tell(Inbox, invitee).inviteGone({ vaultUuid: turn.self.id, inviteUuid: uuid });
  }
  for (const each of imported) {
    const row: InviteRow = {
      vault: turn.self.id,
      invitee: each.inviteeUuid,
      uuid: each.uuid,
      position: nextPosition(turn),
      sender_uuid: each.senderUuid,
      permission: each.permission,
      encrypted_message: each.encryptedMessage,
      bytes: Buffer.byteLength(each.encryptedMessage),
      created_at: each.createdAt,
      updated_at: each.updatedAt,
    };
    turn.put(vaultInviteTable, row);
    turn.tell(Inbox, row.invitee).invited({ invite: inviteResponse(row), isNew: false });
  }
}

export const importing = vaultPart(VaultImport, {
  name: 'import',
  slices: [importSlice],
  commands: {
    importVault,
    importShowVault,
    ...collectionImportCommands({
      trim: VaultItems.timers.trimRevisions,
      vaultOf: (view) => view.self.id,
      ownerReads: (view) => ({ vaults: keys(vaultTable, [vaultKey(view)]) }),
      owner: (turn, { vaults }) => vaultFiles(turn, vaults.get(vaultKey(turn))),
    }),
  },
});
