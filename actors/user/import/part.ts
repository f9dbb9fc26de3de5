/** What an import asks of the `user` actor (docs/import.md). No session is checked: operators alone reach these. */
import { ItemSettings } from '../../collection/settings.ts';
import { FileSettings } from '../../files/settings.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { collectionImportCommands } from '../../import/collection.ts';
import { UserImport } from '../../import/operator-contract.ts';
import { importSlice } from '../../import/phase.ts';
import { ownFiles } from '../files/own-files.ts';
import { userPart } from '../hooks.ts';
import { Revisions } from '../revisions/contract.ts';
import { importAccount, importOpen, noteUse } from './account.ts';
import { importInbox } from './inbox.ts';
import { importShow } from './show.ts';

export const importing = userPart(UserImport, {
  name: 'import',
  uses: [ItemSettings, FileSettings, UserSecrets],
  slices: [importSlice],
  commands: {
    ...collectionImportCommands({
      trim: Revisions.timers.trimRevisions,
      vaultOf: () => null,
      ownerReads: () => ({}),
      owner: (turn) => ownFiles(turn),
    }),
    importAccount,
    importOpen,
    importShow,
    importInbox,
  },
  on: { signedIn: noteUse },
});
