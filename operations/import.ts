/**
 * `scriptorium.v1.Import`: accounts of another server, written by their own actors (docs/import.md). Every call can be repeated.
 * The parts of a file are stored here, in the order in which they come.
 */
import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import {
  type BlobLayout,
  blobName,
  chunksMax,
  noChunks,
  piecesOf,
  withChunk,
} from '../actors/files/layout.ts';
import { type FileStore, FileStoreError, isBlobName } from '../actors/files/store.ts';
import { findUser } from '../actors/identity/account-table.ts';
import { defaultWorkspace, normaliseUsername } from '../actors/identity/usernames.ts';
import {
  type accountRefusals,
  importLimits,
  isUnusable,
  knownContentTypes,
  notificationTypes,
  UserImport,
  VaultImport,
} from '../actors/import/operator-contract.ts';
import { permissions } from '../actors/inbox-entries.ts';
import { isRefusedSetting } from '../actors/user/settings/contract.ts';
import { Vault } from '../actors/vault/contract.ts';
import type {
  ImportCollection,
  ImportFile,
  ImportFilePart,
  ImportKeyParams,
  ImportMember,
  ImportService,
} from '../proto/generated/scriptorium/v1/import.ts';
import {
  inviteDigest,
  itemDigest,
  keyParamsDigest,
  memberDigest,
  messageDigest,
  notificationDigest,
  revisionDigest,
  valueDigest,
  vaultDigest,
} from '../proto/import-digests.ts';
import { type Ask, type AskOptions, unlessAbsent } from '../runtime/handles.ts';
import type { Handlers } from './calls.ts';
import { CallError, failedPrecondition, invalidArgument, notFound, okOrThrow } from './errors.ts';
import { limitField, uuidField } from './fields.ts';
import type { InternalApiOptions } from './internal-api-options.ts';

type Options = Pick<InternalApiOptions, 'actors' | 'fileStore' | 'importing' | 'lookups' | 'logger'>;

export function importHandlers(options: Options): Handlers<ImportService> {
  const { actors, importing } = options;
  const user = (uuid: string) => actors.get(UserImport, uuidField('user_uuid', uuid)).ask;
  const vault = (uuid: string) => actors.get(VaultImport, uuidField('vault_uuid', uuid)).ask;
  const collection = (of: ImportCollection | undefined) => {
    if (of === undefined) throw invalidArgument('collection is missing.');
    return of.isVault ? vault(of.uuid) : user(of.uuid);
  };
  return {
    async describe() {
      return {
        ...importing,
        ...importLimits,
        contentTypes: [...knownContentTypes],
        notificationTypes: [...notificationTypes],
      };
    },

    ...accountHandlers(options, user),
    ...vaultHandlers(options, user, vault),
    ...itemHandlers(collection),
    ...fileHandlers(options, collection),
  };
}

type User = (uuid: string) => Ask<(typeof UserImport)['commands']>;
type VaultOf = (uuid: string) => Ask<(typeof VaultImport)['commands']>;
type Collection = (of: ImportCollection | undefined) => ReturnType<User> | ReturnType<VaultOf>;

function accountHandlers(
  { lookups, logger }: Pick<Options, 'lookups' | 'logger'>,
  user: User,
): Pick<
  Handlers<ImportService>,
  'checkAccount' | 'beginAccount' | 'openAccount' | 'showAccount' | 'writeInbox'
> {
  return {
    async checkAccount({ account }, ask) {
      if (account?.keyParams === undefined) throw invalidArgument('key_params is missing.');
      const userUuid = uuidField('user_uuid', account.userUuid);
      const imported = await shown(user(userUuid), ask);
      const email = normaliseUsername(account.identifier);
      const holder = await findUser(lookups, { email, workspace: defaultWorkspace });
      const refusedSettings = account.settings.filter(({ name, value }) => isRefusedSetting(name, value));
      const answer = {
        refused: foreseenRefusal(
          imported?.phase,
          holder !== undefined && holder !== userUuid,
          account.keyParams,
        ),
        fresh: imported === undefined,
        refusedSettings: refusedSettings.map(({ name }) => name),
      };
      return { answer };
    },

    async beginAccount({ userUuid, keyParams, ...account }, ask) {
      if (keyParams === undefined) throw invalidArgument('key_params is missing.');
      const answer = await unlessAbsent(user(userUuid).importAccount({ keyParams, ...account }, ask));
      if (answer === undefined) return { refused: 'deleted', fresh: false, refusedSettings: [] };
      if ('refused' in answer) return { refused: answer.refused, fresh: false, refusedSettings: [] };
      if (answer.fresh) logger.info({ userUuid }, 'an import has made an account');
      return { refused: '', ...answer };
    },

    async openAccount({ userUuid, unlock }, ask) {
      const opened = okOrThrow(await presentOrThrow(user(userUuid).importOpen({ unlock }, ask)));
      if (opened.opened) logger.info({ userUuid }, 'an import has opened an account');
      return opened;
    },

    async showAccount({ userUuid }, ask) {
      const imported = await shown(user(userUuid), ask);
      if (imported === undefined) throw notFound('There is no such account.');
      return {
        phase: imported.phase,
        keyParamsSha256: keyParamsDigest(imported.keyParams),
        settings: Object.entries(imported.settings).map(([name, value]) => ({
          name,
          valueSha256: valueDigest(value),
        })),
        authenticators: imported.authenticators,
        messages: imported.messages.map((each) => ({ uuid: each.uuid, sha256: messageDigest(each) })),
        notifications: imported.notifications.map((each) => ({
          uuid: each.uuid,
          sha256: notificationDigest(each),
        })),
        items: imported.items,
        vaultUuids: imported.vaultUuids ?? [],
      };
    },

    async writeInbox({ userUuid, messages, notifications }, ask) {
      return okOrThrow(await presentOrThrow(user(userUuid).importInbox({ messages, notifications }, ask)));
    },
  };
}

/** Undefined if there is no account. An import that was refused leaves an actor without one. */
async function shown(user: ReturnType<User>, ask: AskOptions) {
  const imported = await unlessAbsent(user.importShow({}, ask));
  return imported?.keyParams['version'] === undefined ? undefined : imported;
}

function vaultHandlers(
  { actors, logger }: Pick<Options, 'actors' | 'logger'>,
  user: User,
  vault: VaultOf,
): Pick<Handlers<ImportService>, 'writeVault' | 'showVault' | 'endVault'> {
  const areAll = async (
    phases: readonly string[],
    members: readonly { readonly userUuid: string }[],
    ask: AskOptions,
  ) => {
    const found = await Promise.all(members.map((member) => phaseOf(user(member.userUuid), ask)));
    return found.every((phase) => phases.includes(phase));
  };
  return {
    async writeVault({ vaultUuid, members, invites, survivorUuid, ...about }, ask) {
      if (!(await areAll(['closed', 'locked'], members, ask))) return { refused: 'used', fresh: false };
      const answer = await unlessAbsent(
        vault(vaultUuid).importVault(
          {
            ...about,
            survivorUuid: survivorUuid === '' ? null : survivorUuid,
            members: members.map(withPermission),
            invites: invites.map(withPermission),
          },
          ask,
        ),
      );
      if (answer === undefined) return { refused: 'ended', fresh: false };
      return 'refused' in answer ? { refused: answer.refused, fresh: false } : { refused: '', ...answer };
    },

    async showVault({ vaultUuid }, ask) {
      const {
        vault: imported,
        members,
        invites,
      } = await presentOrThrow(vault(vaultUuid).importShowVault({}, ask));
      if (imported === null) throw notFound('There is no such vault.');
      return {
        sha256: vaultDigest(imported),
        members: members.map((each) => ({ uuid: each.uuid, sha256: memberDigest(each) })),
        invites: invites.map((each) => ({ uuid: each.uuid, sha256: inviteDigest(each) })),
      };
    },

    async endVault({ vaultUuid, checkOnly }, ask) {
      const {
        vault: row,
        members,
        isImported,
      } = await presentOrThrow(vault(vaultUuid).importShowVault({}, ask));
      if (row === null) throw notFound('There is no such vault.');
      if (!isImported) return { refused: 'native' };
      if (!(await areAll(['closed', 'locked', 'open'], members, ask))) return { refused: 'used' };
      if (!checkOnly) {
        const uuid = uuidField('vault_uuid', vaultUuid);
        okOrThrow(await presentOrThrow(actors.get(Vault, uuid).ask.end({ by: row.ownerUuid }, ask)));
        logger.info({ vaultUuid: uuid }, 'an import has ended a shared vault');
      }
      return { refused: '' };
    },
  };
}

function itemHandlers(
  collection: Collection,
): Pick<
  Handlers<ImportService>,
  'wantItems' | 'writeItems' | 'writeRevisions' | 'removeItems' | 'listItems' | 'listRevisions'
> {
  return {
    async wantItems({ collection: of, items }, ask) {
      return presentOrThrow(collection(of).importWantItems({ items }, ask));
    },

    async writeItems({ collection: of, items }, ask) {
      const reply = collection(of).importItems({ items }, ask);
      const { refusedItems: refused, ...counts } = okOrThrow(await presentOrThrow(reply));
      return { ...counts, refused };
    },

    async writeRevisions({ collection: of, revisions }, ask) {
      return okOrThrow(await presentOrThrow(collection(of).importRevisions({ revisions }, ask)));
    },

    async removeItems({ collection: of, uuids }, ask) {
      return okOrThrow(await presentOrThrow(collection(of).importRemoveItems({ uuids }, ask)));
    },

    async listItems({ collection: of, after, pageSize, withDigests }, ask) {
      const limit = limitField('page_size', pageSize);
      const page = await presentOrThrow(
        collection(of).importListItems({ after, limit, whole: withDigests }, ask),
      );
      const items = page.items.map((item, index) => ({
        version: {
          uuid: item.uuid,
          updatedAt: item.updatedAt,
          deleted: item.deleted,
          ownerUuid: item.ownerUuid,
          vaultUuid: page.vaultUuids[index] ?? '',
          revisions: item.revisions,
          revisedAt: item.revisedAt,
        },
        sha256: withDigests ? itemDigest(item) : '',
      }));
      return { items, nextAfter: page.nextAfter };
    },

    async listRevisions({ collection: of, itemUuid }, ask) {
      const uuid = uuidField('item_uuid', itemUuid);
      const { revisions } = await presentOrThrow(collection(of).importListRevisions({ itemUuid: uuid }, ask));
      return { revisions: revisions.map((each) => ({ uuid: each.uuid, sha256: revisionDigest(each) })) };
    },
  };
}

function fileHandlers(
  { fileStore }: Pick<Options, 'fileStore'>,
  collection: Collection,
): Pick<Handlers<ImportService>, 'writeFilePart' | 'closeFile' | 'showFile'> {
  return {
    async writeFilePart({ file, part, content }, ask) {
      const { name, owner } = nameOf(file, part);
      if (content.byteLength === 0 || content.byteLength !== part?.bytes) {
        throw invalidArgument('content is not as long as part says.');
      }
      const signal = AbortSignal.timeout(ask.deadlineMs ?? partMs);
      await stored(fileStore.write(name, pieceOf(content), { owner, bytes: content.byteLength, signal }));
      return {};
    },

    async closeFile({ file, parts }, ask) {
      if (parts.length === 0 || parts.length > chunksMax) throw invalidArgument('parts are missing.');
      const blobs = parts.map((part) => ({ name: nameOf(file, part).name, bytes: part.bytes }));
      await stored(fileStore.persist(blobs));
      const layout = parts.reduce<BlobLayout>(withChunk, noChunks);
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
      const { remoteIdentifier, uploadUuid } = fileOf(file);
      const importedFile = { remoteIdentifier, uploadUuid, bytes, layout };
      okOrThrow(await presentOrThrow(collection(file?.owner).importFile(importedFile, ask)));
      return {};
    },

    async showFile({ owner, remoteIdentifier, withDigest }, ask) {
      const uuid = uuidField('remote_identifier', remoteIdentifier);
      const { file } = await presentOrThrow(
        collection(owner).importShowFile({ remoteIdentifier: uuid }, ask),
      );
      if (file === null) throw notFound('There is no such file.');
      // The caller may wait for longer than a minute, which reading a large file can take.
      const signal = AbortSignal.timeout(ask.callerMs ?? partMs);
      return { bytes: file.bytes, sha256: withDigest ? await digestOf(fileStore, file, signal) : '' };
    },
  };
}

function foreseenRefusal(
  phase: string | undefined,
  isEmailRegistered: boolean,
  keyParams: ImportKeyParams,
): (typeof accountRefusals)[number] | '' {
  if (phase === 'used') return 'used';
  if (phase === 'none') return 'native';
  if (isUnusable(keyParams)) return 'key-params';
  return isEmailRegistered ? 'taken' : '';
}

/** The longest that one part is waited for. */
const partMs = 60_000;

async function* pieceOf(content: Uint8Array) {
  yield content;
}

async function presentOrThrow<T>(reply: Promise<T>): Promise<T> {
  const answer = await unlessAbsent(reply);
  if (answer === undefined) throw notFound('An import has not begun with this.');
  return answer;
}

async function phaseOf(
  user: { importShow(request: object, ask: AskOptions): Promise<{ readonly phase: string }> },
  ask: AskOptions,
): Promise<string> {
  return (await unlessAbsent(user.importShow({}, ask)))?.phase ?? 'none';
}

function withPermission<T extends Pick<ImportMember, 'permission'>>(of: T) {
  const permission = permissions.find((each) => each === of.permission);
  if (permission === undefined) throw invalidArgument('permission is none of read, write and admin.');
  return { ...of, permission };
}

function fileOf(file: ImportFile | undefined) {
  if (file?.owner === undefined) throw invalidArgument('file is missing.');
  return {
    storedUnder: uuidField('owner', file.owner.uuid),
    remoteIdentifier: uuidField('remote_identifier', file.remoteIdentifier),
    uploadUuid: uuidField('upload_uuid', file.uploadUuid),
  };
}

function nameOf(file: ImportFile | undefined, part: ImportFilePart | undefined) {
  const { storedUnder, uploadUuid } = fileOf(file);
  if (part === undefined) throw invalidArgument('part is missing.');
  const name = blobName({ storedUnder, uploadUuid }, part);
  if (!isBlobName(name) || part.number < 1) throw invalidArgument('part has no number, or no nonce.');
  return { name, owner: storedUnder };
}

/** @throws CallError */
async function stored(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof FileStoreError)) throw error;
    if (error.failure === 'full') throw failedPrecondition('The store of files has no room left.');
    throw new CallError(status.UNAVAILABLE, 'The store of files cannot take this now. Try again.');
  }
}

/** @throws CallError if the store does not answer in time */
async function digestOf(
  store: Pick<FileStore, 'read'>,
  file: { uploadUuid: string; storedUnder: string; bytes: number; layout: Uint8Array },
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  try {
    for (const { name, start, end } of piecesOf(file, file.layout, { first: 0, last: file.bytes - 1 })) {
      for await (const piece of store.read(name, { start, end }, signal)) hash.update(piece);
    }
  } catch (error) {
    if (!(error instanceof FileStoreError) || error.failure === 'missing') throw error;
    throw new CallError(status.UNAVAILABLE, 'The store of files cannot be read now. Try again.');
  }
  return hash.digest('hex');
}
