/**
 * The `vault` kind: one actor per shared vault.
 *
 * Invariants:
 * - What is decided about a vault is decided in a turn of its own, by the rows of its members at that moment.
 * - Its owner is a member with `admin`, and its survivor is a member who is not the owner.
 * - Nobody has both a member's row and an invite's.
 * - Every change tells whom it concerns in its own commit: nobody is told of what is not so, and everybody of what is.
 */
import { kindOf } from '../../runtime/kind.ts';
import { head } from '../collection/head.ts';
import { item } from '../collection/item.ts';
import { ledgerSlice } from '../collection/revisions/ledger.ts';
import { revision } from '../collection/revisions/table.ts';
import { ItemSettings } from '../collection/settings.ts';
import { outgoingTransferMap } from '../collection/transfer/transfer.ts';
import { filesSlice } from '../files/ledger.ts';
import { redeemedMap } from '../files/redeemed.ts';
import { FileSettings } from '../files/settings.ts';
import { FileStore } from '../files/store.ts';
import { file, fileGarbage } from '../files/tables.ts';
import { incomingFileMap, outgoingFileMap } from '../files/transfer.ts';
import { uploadMap } from '../files/uploads.ts';
import { importSlice } from '../import/standing.ts';
import { Vault } from './contract.ts';
import { create } from './create.ts';
import { end, userGone } from './end.ts';
import { fileCommands, fileJobs, fileTimers } from './files/by-token.ts';
import { fileMoveTells } from './files/move.ts';
import { grantMap } from './files/own-files.ts';
import { importCommands } from './import/import-vault.ts';
import { inviteCommands } from './invites.ts';
import { getItem } from './items/get-item.ts';
import { handItemsOnTimer } from './items/hand-on.ts';
import { returnToOwnersJob } from './items/return-to-owners.ts';
import { deleteRevision, getRevision, listRevisions } from './items/revisions.ts';
import { applyItemTransfer, finalizeItemTransfer, saveItems } from './items/save-items.ts';
import { itemTimers } from './items/timers.ts';
import { memberCommands } from './members.ts';
import { VaultSettings } from './settings.ts';
import { subscribe } from './sockets.ts';
import { standingSlice } from './standing.ts';
import { successorMap } from './successors.ts';
import { inviteTable, memberTable, vaultTable } from './tables.ts';
import { tearDownTimer } from './tear-down.ts';

export const vault = kindOf(Vault, {
  uses: [VaultSettings, ItemSettings, FileSettings, FileStore],
  slices: [
    standingSlice,
    successorMap,
    head,
    ledgerSlice,
    outgoingTransferMap,
    filesSlice,
    uploadMap,
    redeemedMap,
    grantMap,
    outgoingFileMap,
    incomingFileMap,
    importSlice,
  ],
  tables: [vaultTable, memberTable, inviteTable, item, revision, file, fileGarbage],
  membershipTable: memberTable,
  commands: {
    create,
    end,
    ...memberCommands,
    ...inviteCommands,
    subscribe,
    saveItems,
    applyItemTransfer,
    finalizeItemTransfer,
    getItem,
    listRevisions,
    getRevision,
    deleteRevision,
    ...fileCommands,
    ...importCommands,
  },
  tells: { userGone, ...fileMoveTells },
  timers: { ...itemTimers, handItemsOn: handItemsOnTimer, ...fileTimers, tearDown: tearDownTimer },
  jobs: { ...fileJobs, returnToOwners: returnToOwnersJob },
});
