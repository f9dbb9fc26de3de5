/**
 * The part of the client library's public interface that these tests use. The published typings point at sibling
 * packages that the library does not install, so most of their names resolve to nothing.
 */

import type { Displayable, Item, Result } from './snjs-answers.ts';
import type { FileService } from './snjs-files.ts';
import type { VaultServices } from './snjs-vaults.ts';

export interface Library {
  /** Features that a subscription may give, and that the client knows by itself. */
  GetFeatures(): Record<string, unknown>[];
  SNApplication: new (options: ApplicationOptions) => Application;
  SNLog: { onLog: (...message: unknown[]) => void; onError: (error: Error) => void };
  /** Options that the library leaves off by default. */
  InternalFeatureService: { get(): { enableFeature(feature: string): void } };
  InternalFeature: { Vaults: string };
  Environment: { Web: number };
  Platform: { LinuxWeb: number };
  ChallengeValidation: {
    None: number;
    AccountPassword: number;
    ProtectionSessionDuration: number;
    Authenticator: number;
  };
  SessionStrings: { SessionRestored: string };
  ApplicationEvent: { CompletedFullSync: string };
  /** Many of its services return this instead of throwing. */
  ClientDisplayableError: new (
    text: string,
  ) => Displayable;
  /** The former protocols of accounts. */
  SNProtocolOperator001: OldOperatorClass;
  SNProtocolOperator002: OldOperatorClass;
  SNProtocolOperator003: OldOperatorClass;
  DecryptedPayload: new (decrypted: { uuid: string; content_type: string; content: object }) => object;
  GetSortedPayloadsByPriority(entries: DatabaseEntry[], options: LoadOptions): SortedEntries;
}

type OldOperatorClass = new (crypto: object) => OldOperator;

interface OldOperator {
  createRootKey(identifier: string, password: string, origination: string): Promise<RootKey>;
  /** As old clients did it: by the root key itself. */
  generateEncryptedParametersAsync(decrypted: object, key: RootKey): Promise<EncryptedItem>;
}

interface RootKey {
  serverPassword: string;
  keyParams: { getPortableValue(): PortableKeyParams };
}

export interface PortableKeyParams {
  identifier: string;
  version: string;
  [param: string]: string | number;
}

interface EncryptedItem {
  uuid: string;
  content_type: string;
  content: string;
  enc_item_key: string;
  auth_hash?: string;
}

export interface Crypto {
  SNWebCrypto: new () => object;
}

interface ApplicationOptions {
  environment: number;
  platform: number;
  deviceInterface: object;
  crypto: object;
  alertService: AlertService;
  identifier: string;
  defaultHost: string;
  appVersion: string;
  apiVersion: string;
  u2fAuthenticatorRegistrationPromptFunction: (options: Json) => Promise<Json>;
  u2fAuthenticatorVerificationPromptFunction: (options: Json) => Promise<Json>;
}

export type Json = Record<string, unknown>;

export interface RevisionEntry {
  uuid: string;
  created_at: string;
  required_role: string;
}

export interface RevisionName {
  itemUuid: string;
  revisionUuid: string;
}

interface UseCase<Request, T> {
  execute(request: Request): Promise<Result<T>>;
}

interface AlertService {
  alert(text: string, title?: string): Promise<void>;
  confirm(text: string, title?: string): Promise<boolean>;
  confirmV2(dialog: object): Promise<boolean>;
  blockingDialog(text: string, title?: string): () => void;
  showErrorAlert(error: { text: string; title?: string }): Promise<void>;
}

export interface Application extends VaultServices {
  prepareForLaunch(callback: { receiveChallenge: (challenge: Challenge) => void }): Promise<void>;
  launch(awaitDatabaseLoad?: boolean): Promise<void>;
  setCustomHost(host: string, websocketUrl?: string): Promise<void>;
  readonly sockets: { startWebSocketConnection(): Promise<unknown> };
  setOnDeinit(onDeinit: () => void): void;
  addEventObserver(callback: (event: string) => Promise<void>): () => void;
  submitValuesForChallenge(challenge: Challenge, values: ChallengeValue[]): Promise<void>;
  register(email: string, password: string, hvmToken: string): Promise<unknown>;
  /** The arguments are: strict, ephemeral, merge local data, wait for the first sync. */
  signIn(
    email: string,
    password: string,
    strict: boolean,
    ephemeral: boolean,
    mergeLocal: boolean,
    awaitSync: boolean,
  ): Promise<HttpResponse<unknown>>;
  changePassword(currentPassword: string, newPassword: string): Promise<{ error?: Error }>;
  changeEmail(newEmail: string, currentPassword: string): Promise<{ error?: Error }>;
  protocolUpgradeAvailable(): Promise<boolean>;
  upgradeProtocolVersion(): Promise<{ success?: true; canceled?: true; error?: Error }>;
  getUserVersion(): string | undefined;
  getSessions(): Promise<HttpResponse<SessionEntry[]>>;
  revokeSession(uuid: string): Promise<HttpResponse<unknown> | undefined>;
  revokeAllOtherSessions(): Promise<void>;
  hasAccount(): boolean;
  readonly mfa: {
    isMfaActivated(): Promise<boolean>;
    generateMfaSecret(): Promise<string>;
    enableMfa(secret: string, code: string): Promise<void>;
    disableMfa(): Promise<void>;
  };
  readonly getRecoveryCodes: UseCase<{ password: string }, string>;
  readonly signInWithRecoveryCodes: UseCase<
    { username: string; password: string; recoveryCodes: string; mergeLocal: boolean },
    void
  >;
  readonly addAuthenticator: UseCase<{ userUuid: string; authenticatorName: string }, void>;
  readonly listAuthenticators: { execute(): Promise<Result<{ id: string; name?: string }[]>> };
  readonly listRevisions: UseCase<{ itemUuid: string }, RevisionEntry[]>;
  readonly getRevision: UseCase<RevisionName, { payload: { content: { title: string; text: string } } }>;
  readonly deleteRevision: UseCase<RevisionName, void>;
  readonly deleteAuthenticator: UseCase<{ authenticatorId: string }, void>;
  readonly getAuthenticatorAuthenticationResponse: UseCase<{ username: string }, Json>;
  readonly features: { hasMinimumRole(role: string): boolean };
  readonly files: FileService;
  importData(file: Json, awaitSync: boolean): Promise<unknown>;
  readonly subscriptions: {
    fetchOnlineSubscription(): Promise<unknown>;
    getOnlineSubscription(): Subscription | undefined;
    inviteToSubscription(email: string): Promise<boolean>;
    listSubscriptionInvitations(): Promise<Invitation[]>;
    cancelInvitation(uuid: string): Promise<boolean>;
    acceptInvitation(uuid: string): Promise<{ success: boolean; message?: string }>;
  };
  user: {
    signOut(force: boolean): Promise<void>;
    deleteAccount(): Promise<{ error: boolean; message?: string }>;
  };
  sessions: {
    getSureUser(): { uuid: string };
    getSession(): { accessToken: SessionToken; refreshToken: SessionToken } | null;
  };
  sync: {
    sync(options: { awaitAll: boolean; checkIntegrity: boolean }): Promise<unknown>;
    isOutOfSync(): boolean;
  };
  items: {
    getItems<T extends Item>(contentType: string): T[];
    findSureItem<T extends Item>(uuid: string): T;
    getSortedTagsForItem(item: Note): Tag[];
    getDirtyItems(): Item[];
    invalidItems: object[];
  };
  mutator: {
    createItem<T extends Item>(contentType: string, content: object, needsSync: boolean): Promise<T>;
    changeItem<M>(item: Item, mutate: (mutator: M) => void): Promise<Item>;
    deleteItem(item: Item): Promise<void>;
    createTag(tag: { title: string }): Promise<Tag>;
    addTagToNote(note: Note, tag: Tag, addHierarchy: boolean): Promise<Tag[] | undefined>;
  };
}

export interface Challenge {
  prompts: { validation: number; initialValue?: unknown }[];
}

interface ChallengeValue {
  prompt: Challenge['prompts'][number];
  value: unknown;
}

export interface HttpResponse<T> {
  status: number;
  data: T & { error?: { message: string; tag?: string } };
}

/** Expirations are milliseconds since the epoch. */
export interface SessionToken {
  value: string;
  expiresAt: number;
}

export interface SessionEntry {
  uuid: string;
  current: boolean;
  device_info: string;
  created_at: string;
  updated_at: string;
}

/** Times are microseconds. */
export interface Subscription {
  planName: string;
  cancelled: boolean;
  endsAt: number;
}

export interface Invitation {
  uuid: string;
  inviteeIdentifier: string;
  status: string;
}

export interface Note extends Item {
  title: string;
  text: string;
  conflictOf?: string;
}

export interface Tag extends Item {
  title: string;
}

export interface DatabaseEntry {
  uuid: string;
  content_type: string;
}

export interface LoadOptions {
  batchSize: number;
  contentTypePriority: string[];
  uuidPriority: string[];
}

interface SortedEntries {
  itemsKeyPayloads: DatabaseEntry[];
  keySystemRootKeyPayloads: DatabaseEntry[];
  keySystemItemsKeyPayloads: DatabaseEntry[];
  contentTypePriorityPayloads: DatabaseEntry[];
  remainingPayloads: DatabaseEntry[];
}
