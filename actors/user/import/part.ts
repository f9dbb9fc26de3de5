/** The commands of an import (docs/import.md). They check no session, and only operators reach them. */

import { sharedRead } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { FileSettings } from '../../files/settings.ts';
import { publicKeyParams } from '../../identity/key-params.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { collectionImportCommands } from '../../import/collection.ts';
import { UserImport } from '../../import/operator-contract.ts';
import { importSlice } from '../../import/phase.ts';
import { ownAccount } from '../account/own-account.ts';
import { authenticatorMap } from '../factors/authenticators.ts';
import { ownFiles } from '../files/own-files.ts';
import { userPart } from '../hooks.ts';
import { inboxMessagesPlan } from '../inbox/messages.ts';
import { Revisions } from '../revisions/contract.ts';
import { settingNamed } from '../settings/known.ts';
import { settingMap, settingValue } from '../settings/stored.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { endImport, importAccount, importOpen } from './account.ts';
import { importInbox, notificationsPlan } from './inbox.ts';

/** For the command that compares both servers. */
const importShow = sharedRead(UserImport.commands.importShow, {
  reads: (view) => ({
    ...ownAccount(view),
    messages: inboxMessagesPlan(view),
    notifications: notificationsPlan(view),
  }),
  answer: (view, _request, { account, messages, notifications }) => {
    const { phase, locked } = view.get(importSlice);
    const row = account.get({ user_uuid: view.self.id });
    return {
      phase: phase === 'closed' && locked ? ('locked' as const) : phase,
      keyParams: row === undefined ? {} : definedOf(publicKeyParams(row)),
      settings: Object.fromEntries(
        [...view.entries(settingMap)].map(([name, { value }]) => {
          const known = settingNamed(name);
          return [name, value === null || known === undefined ? null : settingValue(view, known)];
        }),
      ),
      authenticators: [...view.entries(authenticatorMap).keys()],
      messages: messages.rows.map((each) => ({
        uuid: each.uuid,
        senderUuid: each.sender_uuid,
        encryptedMessage: each.encrypted_message,
        replaceabilityIdentifier: each.replaceability_identifier ?? undefined,
        createdAt: each.created_at,
        updatedAt: each.updated_at,
      })),
      notifications: notifications.rows
        .filter(({ cleared }) => !cleared)
        .map(({ uuid, type, payload, created_at, updated_at }) => ({
          uuid,
          type,
          payload,
          createdAt: created_at,
          updatedAt: updated_at,
        })),
      items: view.get(head).items,
      vaultUuids: [...membershipsOf(view).keys()],
    };
  },
});

const definedOf = (of: Readonly<Record<string, string | number | undefined>>) =>
  Object.fromEntries(
    Object.entries(of).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  );

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
  on: { signedIn: endImport },
});
