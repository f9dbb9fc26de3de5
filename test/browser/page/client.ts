import { errorOf, okOf } from './answers.ts';
import { signal } from './signal.ts';
import type {
  Application,
  Challenge,
  Crypto,
  HttpResponse,
  Invitation,
  Json,
  Library,
  Note,
  PortableKeyParams,
  RevisionEntry,
  RevisionName,
  SessionEntry,
  SessionToken,
  Subscription,
  Tag,
} from './snjs.ts';
import { socketOpened } from './socket-opened.ts';
import { Storage } from './storage.ts';

/** Set by the two script tags of the packages as they are published. */
declare const SNLibrary: Library;
declare const SNCrypto: Crypto;

export interface Account {
  email: string;
  password: string;
}

export type OldVersion = '001' | '002' | '003';

export interface OldAccount {
  registration: PortableKeyParams & { password: string };
  items: object[];
}

export interface NoteView {
  uuid: string;
  title: string;
  text: string;
  tags: string[];
}

export interface Refusal {
  status: number;
  message: string;
}

/**
 * One device: the client library in a page, driven like by a user interface. Arguments and results cross from the
 * test to the page, so they are plain data.
 */
export class Client {
  #application: Application | undefined;
  #account: Account | undefined;
  /** The answer when the client asks for a second factor. */
  #factor = { email: '', code: '' };
  #credentialsPrompt = signal<Challenge>();
  #sessionRestored = signal<void>();
  #ended = signal<void>();
  #alerts: string[] = [];
  #completedSyncs = 0;

  /** Starts the client signed out, as after an installation. `apiVersion` decides the session style. */
  async boot(options: { host: string; apiVersion: string; identifier: string }): Promise<void> {
    SNLibrary.SNLog.onLog = () => {};
    SNLibrary.SNLog.onError = (error) => this.#alerts.push(String(error));
    SNLibrary.InternalFeatureService.get().enableFeature(SNLibrary.InternalFeature.Vaults);
    const application = new SNLibrary.SNApplication({
      environment: SNLibrary.Environment.Web,
      platform: SNLibrary.Platform.LinuxWeb,
      deviceInterface: new Storage(SNLibrary),
      crypto: new SNCrypto.SNWebCrypto(),
      alertService: this.#alertService(),
      identifier: options.identifier,
      defaultHost: options.host,
      appVersion: '3.0.0',
      apiVersion: options.apiVersion,
      u2fAuthenticatorRegistrationPromptFunction: createCredential,
      u2fAuthenticatorVerificationPromptFunction: getCredential,
    });
    application.setOnDeinit(() => this.#end());
    application.addEventObserver(async (event) => {
      if (event === SNLibrary.ApplicationEvent.CompletedFullSync) this.#completedSyncs += 1;
    });
    await application.prepareForLaunch({ receiveChallenge: (challenge) => void this.#meet(challenge) });
    await application.launch(true);
    await application.setCustomHost(options.host, `${options.host.replace(/^http/, 'ws')}/sockets`);
    this.#application = application;
  }

  async register(account: Account): Promise<void> {
    await this.application.register(account.email, account.password, '');
    this.#account = account;
  }

  /**
   * Resolves after the first sync, or with the refusal of the server. If a second factor is needed, the answer is
   * `code` or the security key's.
   */
  async signIn(
    account: Account,
    options: { ephemeral?: boolean; code?: string } = {},
  ): Promise<Refusal | undefined> {
    const { email, password } = account;
    this.#factor = { email, code: options.code ?? '' };
    const response = await this.application.signIn(
      email,
      password,
      false,
      options.ephemeral ?? false,
      true,
      true,
    );
    const refusal = refusalOf(response);
    if (refusal === undefined) this.#account = account;
    return refusal;
  }

  /** Resolves with the refusal, if there was one. */
  async signInWithRecoveryCodes(account: Account, recoveryCodes: string): Promise<string | undefined> {
    const { email: username, password } = account;
    const request = { username, password, recoveryCodes, mergeLocal: true };
    const result = await this.application.signInWithRecoveryCodes.execute(request);
    if (!result.isFailed()) this.#account = account;
    return errorOf(result);
  }

  /** Admits every waiting device. The published library leaves these calls to the application. */
  async approveSignIns(host: string): Promise<number> {
    const headers = {
      authorization: `Bearer ${this.accessToken().value}`,
      'content-type': 'application/json',
    };
    const ask = async (path: string, body?: object) => {
      const method = body === undefined ? 'GET' : 'POST';
      const answer = await fetch(host + path, {
        method,
        headers,
        credentials: 'include',
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return ((await answer.json()) as { data: { pendingApprovals: { challengeId: string }[] } }).data;
    };
    const { pendingApprovals } = await ask('/v1/pending-mfa-approvals');
    for (const { challengeId } of pendingApprovals) {
      await ask(`/v1/pending-mfa-approvals/${challengeId}/resolve`, { approve: true });
    }
    return pendingApprovals.length;
  }

  isAuthenticatorAppOn(): Promise<boolean> {
    return this.application.mfa.isMfaActivated();
  }

  authenticatorAppSecret(): Promise<string> {
    return this.application.mfa.generateMfaSecret();
  }

  async turnAuthenticatorAppOn(secret: string, code: string): Promise<void> {
    await this.application.mfa.enableMfa(secret, code);
  }

  async turnAuthenticatorAppOff(): Promise<void> {
    await this.application.mfa.disableMfa();
  }

  async recoveryCodes(): Promise<string> {
    const { password } = this.#signedInAccount();
    return okOf(await this.application.getRecoveryCodes.execute({ password }));
  }

  async addSecurityKey(authenticatorName: string): Promise<void> {
    const userUuid = this.application.sessions.getSureUser().uuid;
    okOf(await this.application.addAuthenticator.execute({ userUuid, authenticatorName }));
  }

  async securityKeys(): Promise<{ id: string; name?: string }[]> {
    return okOf(await this.application.listAuthenticators.execute());
  }

  async removeSecurityKey(authenticatorId: string): Promise<void> {
    okOf(await this.application.deleteAuthenticator.execute({ authenticatorId }));
  }

  /** The published library leaves it to the application when to dial. */
  async openSocket(): Promise<void> {
    await socketOpened(() => this.application.sockets.startWebSocketConnection());
  }

  async signOut(): Promise<void> {
    await this.application.user.signOut(true);
    await this.#ended.raised;
  }

  /** Whether the client reported a completed sync, with every page of it and all uploads. */
  async sync(): Promise<boolean> {
    const before = this.#completedSyncs;
    await this.application.sync.sync({ awaitAll: true, checkIntegrity: false });
    return this.#completedSyncs > before;
  }

  /** Whether client and server hold the same items, by the client's own integrity check. */
  async isInSync(): Promise<boolean> {
    await this.application.sync.sync({ awaitAll: true, checkIntegrity: true });
    return !this.application.sync.isOutOfSync();
  }

  /** The requests of a client with an old protocol version: to register an account, and to save its notes. */
  async oldAccount(
    version: OldVersion,
    { email, password }: Account,
    notes: { title: string; text: string }[],
  ): Promise<OldAccount> {
    const operator = new SNLibrary[`SNProtocolOperator${version}`](new SNCrypto.SNWebCrypto());
    const key = await operator.createRootKey(email, password, 'registration');
    const items = notes.map((note) => {
      const decrypted = {
        uuid: crypto.randomUUID(),
        content_type: 'Note',
        content: { ...note, references: [] },
      };
      return operator.generateEncryptedParametersAsync(new SNLibrary.DecryptedPayload(decrypted), key);
    });
    return {
      registration: { ...key.keyParams.getPortableValue(), email, password: key.serverPassword },
      items: (await Promise.all(items)).map((item) => ({ ...item })),
    };
  }

  protocolVersion(): string | undefined {
    return this.application.getUserVersion();
  }

  upgradeIsAvailable(): Promise<boolean> {
    return this.application.protocolUpgradeAvailable();
  }

  /** To the newest protocol; resolves with the client's message for its user if it fails. */
  async upgrade(): Promise<string | undefined> {
    const { success, error } = await this.application.upgradeProtocolVersion();
    return success ? undefined : (error?.message ?? 'cancelled');
  }

  async createNote(note: { title: string; text: string }): Promise<string> {
    const created = await this.application.mutator.createItem<Note>(
      'Note',
      { ...note, references: [] },
      true,
    );
    return created.uuid;
  }

  async createNotes(notes: { title: string; text: string }[]): Promise<void> {
    for (const note of notes) await this.createNote(note);
  }

  async editNote(uuid: string, text: string): Promise<void> {
    const note = this.application.items.findSureItem<Note>(uuid);
    await this.application.mutator.changeItem<{ text: string }>(note, (mutator) => {
      mutator.text = text;
    });
  }

  async deleteNote(uuid: string): Promise<void> {
    await this.application.mutator.deleteItem(this.application.items.findSureItem<Note>(uuid));
  }

  /** The revisions of a note on the server, in its order. */
  async revisions(itemUuid: string): Promise<RevisionEntry[]> {
    return okOf(await this.application.listRevisions.execute({ itemUuid }));
  }

  /** Whether the client opens a revision in its history, or locks it and advertises a plan. */
  async opensRevision({ required_role: role }: Pick<RevisionEntry, 'required_role'>): Promise<boolean> {
    return this.application.features.hasMinimumRole(role);
  }

  /** The text of one, decrypted. */
  async revisionText(name: RevisionName): Promise<string> {
    return okOf(await this.application.getRevision.execute(name)).payload.content.text;
  }

  async deleteRevision(name: RevisionName): Promise<void> {
    okOf(await this.application.deleteRevision.execute(name));
  }

  async createTag(title: string, noteUuids: string[]): Promise<void> {
    const tag = await this.application.mutator.createTag({ title });
    for (const uuid of noteUuids) {
      await this.application.mutator.addTagToNote(
        this.application.items.findSureItem<Note>(uuid),
        tag,
        false,
      );
    }
  }

  notes(): NoteView[] {
    return this.application.items
      .getItems<Note>('Note')
      .map((note) => ({
        uuid: note.uuid,
        title: note.title,
        text: note.text,
        tags: this.application.items.getSortedTagsForItem(note).map((tag) => tag.title),
      }))
      .sort((a, b) => a.title.localeCompare(b.title) || a.uuid.localeCompare(b.uuid));
  }

  tags(): string[] {
    return this.application.items.getItems<Tag>('Tag').map((tag) => tag.title);
  }

  undecryptableItemCount(): number {
    return this.application.items.invalidItems.length;
  }

  /** How many items wait to be sent, or sent again. */
  unsavedItemCount(): number {
    return this.application.items.getDirtyItems().length;
  }

  accessToken(): SessionToken {
    const session = this.application.sessions.getSession();
    if (session === null) throw new Error('The client has no session.');
    const { value, expiresAt } = session.accessToken;
    return { value, expiresAt };
  }

  /** Resolves once the client's present access token has expired. */
  async accessTokenExpired(): Promise<void> {
    const remainingMs = this.accessToken().expiresAt - Date.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, remainingMs) + 1));
  }

  async sessions(): Promise<SessionEntry[]> {
    const response = await this.application.getSessions();
    const refusal = refusalOf(response);
    if (refusal !== undefined) throw new Error(refusal.message);
    return response.data.map((entry) => ({ ...entry }));
  }

  async revokeSession(uuid: string): Promise<Refusal | undefined> {
    const response = await this.application.revokeSession(uuid);
    if (response === undefined) throw new Error('The client did not send the revocation.');
    return refusalOf(response);
  }

  /** Resolves with the client's message for its user if it refuses or fails. */
  async changePassword(password: string): Promise<string | undefined> {
    const account = this.#signedInAccount();
    const result = await this.application.changePassword(account.password, password);
    if (result.error !== undefined) return result.error.message;
    this.#account = { ...account, password };
    return undefined;
  }

  async changeEmail(email: string): Promise<string | undefined> {
    const account = this.#signedInAccount();
    const result = await this.application.changeEmail(email, account.password);
    if (result.error !== undefined) return result.error.message;
    this.#account = { ...account, email };
    return undefined;
  }

  async deleteAccount(): Promise<string | undefined> {
    const result = await this.application.user.deleteAccount();
    if (result.error) return result.message ?? 'refused without a message';
    await this.#ended.raised;
    return undefined;
  }

  subscription(): Subscription | undefined {
    return this.application.subscriptions.getOnlineSubscription();
  }

  /** The client knows this without its texts. */
  nativeFeatures(): Record<string, unknown>[] {
    const described = [
      ...['identifier', 'permission_name', 'content_type', 'area', 'index_path', 'note_type', 'file_type'],
      ...['interchangeable', 'layerable', 'isDark', 'deprecated'],
    ];
    return SNLibrary.GetFeatures().map((feature) =>
      Object.fromEntries(described.flatMap((name) => (name in feature ? [[name, feature[name]]] : []))),
    );
  }

  async invite(email: string): Promise<boolean> {
    return this.application.subscriptions.inviteToSubscription(email);
  }

  async invitations(): Promise<Invitation[]> {
    const invitations = await this.application.subscriptions.listSubscriptionInvitations();
    return invitations.map(({ uuid, inviteeIdentifier, status }) => ({ uuid, inviteeIdentifier, status }));
  }

  async cancelInvitation(uuid: string): Promise<boolean> {
    return this.application.subscriptions.cancelInvitation(uuid);
  }

  /** Resolves with the client's message for its user if it is refused. */
  async acceptInvitation(uuid: string): Promise<string | undefined> {
    const { success, message } = await this.application.subscriptions.acceptInvitation(uuid);
    return success ? undefined : (message ?? 'refused without a message');
  }

  /** For an encrypted file, whose password the client asks for. */
  async importFile(text: string, password: string): Promise<void> {
    this.#factor = { ...this.#factor, code: password };
    await this.application.importData(JSON.parse(text), true);
  }

  /** Resolves when the client asks its user for e-mail and password because its session is no longer valid. */
  async askedForCredentials(): Promise<void> {
    await this.#credentialsPrompt.raised;
  }

  /** Answers that question; resolves once the client has told its user that the session is restored. */
  async answerCredentials(account: Account): Promise<void> {
    const challenge = await this.#credentialsPrompt.raised;
    this.#credentialsPrompt = signal();
    this.#account = account;
    this.#sessionRestored = signal();
    const [email, password] = challenge.prompts;
    if (email === undefined || password === undefined) throw new Error('The prompt has other fields.');
    await this.application.submitValuesForChallenge(challenge, [
      { prompt: email, value: account.email },
      { prompt: password, value: account.password },
    ]);
    await this.#sessionRestored.raised;
  }

  /** Resolves when the client has wiped its data and closed itself: signed out, or on the server's command. */
  async ended(): Promise<void> {
    await this.#ended.raised;
  }

  /** All messages that the client showed its user. */
  alerts(): string[] {
    return this.#alerts;
  }

  /** Used by the parts of a device that have files of their own, too. */
  get application(): Application {
    if (this.#application === undefined) throw new Error('The client is not running.');
    return this.#application;
  }

  #signedInAccount(): Account {
    if (this.#account === undefined) throw new Error('Nobody is signed in.');
    return this.#account;
  }

  #end(): void {
    this.#application = undefined;
    this.#account = undefined;
    this.#ended.raise();
  }

  /**
   * Answers the client's questions before a protected action. The test itself answers a question for new credentials.
   */
  async #meet(challenge: Challenge): Promise<void> {
    const { AccountPassword, ProtectionSessionDuration } = SNLibrary.ChallengeValidation;
    const isProtection = challenge.prompts.every(
      (prompt) => prompt.validation === AccountPassword || prompt.validation === ProtectionSessionDuration,
    );
    if (isProtection) return this.#answerProtection(challenge);
    if (challenge.prompts.length > 1) return this.#credentialsPrompt.raise(challenge);
    return this.#answerFactor(challenge);
  }

  async #answerFactor(challenge: Challenge): Promise<void> {
    const [prompt] = challenge.prompts;
    if (prompt === undefined) throw new Error('The challenge asks for nothing.');
    const { email, code } = this.#factor;
    const value =
      prompt.validation === SNLibrary.ChallengeValidation.Authenticator
        ? okOf(await this.application.getAuthenticatorAuthenticationResponse.execute({ username: email }))
        : code;
    await this.application.submitValuesForChallenge(challenge, [{ prompt, value }]);
  }

  async #answerProtection(challenge: Challenge): Promise<void> {
    const { password } = this.#signedInAccount();
    const values = challenge.prompts.map((prompt) => ({
      prompt,
      value:
        prompt.validation === SNLibrary.ChallengeValidation.AccountPassword ? password : prompt.initialValue,
    }));
    await this.application.submitValuesForChallenge(challenge, values);
  }

  #alertService() {
    const alert = async (text: string): Promise<void> => {
      this.#alerts.push(text);
      if (text === SNLibrary.SessionStrings.SessionRestored) this.#sessionRestored.raise();
    };
    return {
      alert,
      confirm: async () => true,
      confirmV2: async () => true,
      blockingDialog: () => () => {},
      showErrorAlert: (error: { text: string }) => alert(error.text),
    };
  }
}

/** The configured language level has no types for the browsers' conversion of these from and to JSON. */
// biome-ignore lint/suspicious/noExplicitAny: see above
const { PublicKeyCredential, navigator } = globalThis as any;

/** Passes the options to the browser and its answer back, as users of the library do. */
async function createCredential(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return (await navigator.credentials.create({ publicKey })).toJSON();
}

async function getCredential(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return (await navigator.credentials.get({ publicKey })).toJSON();
}

function refusalOf(response: HttpResponse<unknown>): Refusal | undefined {
  const message = response.data?.error?.message;
  if (response.status < 400 && message === undefined) return undefined;
  return { status: response.status, message: message ?? '' };
}
