/** The files of a vault (docs/protocol/files.md, "Files of shared vaults"). */

import { removalJob } from '../../files/garbage.ts';
import { redeemedMap } from '../../files/redeemed.ts';
import { FileSettings } from '../../files/settings.ts';
import { filesSlice } from '../../files/state.ts';
import { FileStore } from '../../files/store.ts';
import { file, fileGarbage } from '../../files/tables.ts';
import { incomingFileMap, outgoingFileMap } from '../../files/transfer.ts';
import { cleanupTimer, uploadMap } from '../../files/uploads.ts';
import { vaultPart } from '../hooks.ts';
import { fileCommands } from './by-token.ts';
import { VaultFiles } from './contract.ts';
import { areFilesGone, endFiles, eraseFilesTimer, transferFiles } from './end.ts';
import { fileMoveTells, finalizeOverdueFileTimer } from './move.ts';
import { cleanup, grantMap, vaultFiles } from './own-files.ts';

export const filesOfVault = vaultPart(VaultFiles, {
  name: 'files',
  uses: [FileSettings, FileStore],
  slices: [filesSlice, uploadMap, redeemedMap, grantMap, outgoingFileMap, incomingFileMap],
  tables: [file, fileGarbage],
  commands: fileCommands,
  tells: fileMoveTells,
  timers: {
    cleanUpFiles: cleanupTimer(cleanup, vaultFiles),
    eraseFiles: eraseFilesTimer,
    finalizeOverdueFile: finalizeOverdueFileTimer,
  },
  jobs: { removeBlobs: removalJob(cleanup) },
  on: { ended: endFiles, ownerChanged: transferFiles, hasRemains: (view) => !areFilesGone(view) },
});
