/** How a device gets its session and keeps it: register or sign in, refresh, sign out. */
import { createHash } from 'node:crypto';
import type { SessionReply } from '../../actors/identity/session.ts';
import { type Credentials, namedSecret, type SessionTokens } from '../../actors/identity/session-tokens.ts';
import type { SigninKeys } from '../../actors/identity/signin-keys.ts';
import { defaultAccountSettings } from '../../actors/settings.ts';
import type { SeededRandom } from '../kit/random.ts';
import type { Account } from './account.ts';
import type { SessionChecker } from './checkers/sessions.ts';
import type { CallOutcome, Gateway } from './gateway.ts';
import type { SimulatedTime } from './time.ts';

export interface SignInOptions {
  readonly account: Account;
  readonly gateway: Gateway;
  readonly random: SeededRandom;
  readonly time: SimulatedTime;
  readonly tokens: SessionTokens;
  readonly signinKeys: SigninKeys;
  readonly sessions: SessionChecker;
  readonly device: string;
  readonly apiVersion: string;
  /** The session has received other tokens since this request. */
  readonly refreshed?: (session: string, askedMs: number) => void;
}

interface IssuedSession {
  readonly session: { readonly access_token: string };
  readonly secrets: {
    readonly sessionUuid: string;
    readonly accessSecret: string;
    readonly refreshSecret: string;
  };
}

interface Refused {
  readonly refused: { readonly reason: string };
}

const openingMs = 15_000;
const device = { userAgent: 'simulated', ipAddress: null, snjsVersion: null, applicationVersion: null };

export class Session {
  readonly #options: SignInOptions;
  #credentials: Credentials | undefined;
  #refreshSecret = '';
  #callCount = 0;
  /** When another pair may have become the newest, because the answer with it was lost. */
  #mayBeReplacedSinceMs = Number.POSITIVE_INFINITY;

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  get credentials(): Credentials | undefined {
    return this.#credentials;
  }

  /** Registers if asked to, and signs in otherwise. */
  async open(registering: boolean): Promise<void> {
    const reply = registering ? await this.#register() : await this.#login();
    if (reply === undefined) return;
    this.#options.account.signedInAs(reply.user.uuid);
    this.#keep(reply);
  }

  /** By `open`, until one is signed in. False: none was. */
  async keepOpening(
    { triesMax, pauseMs }: { readonly triesMax: number; readonly pauseMs: number },
    open = (registering: boolean) => this.open(registering),
  ): Promise<boolean> {
    for (let tries = 0; this.#credentials === undefined; tries += 1) {
      if (tries === triesMax) return false;
      if (tries > 0) await this.#options.time.sleep(pauseMs);
      await open(tries % 2 === 1);
    }
    return true;
  }

  /**
   * The server refused a call with the newest known pair. A client that has missed a newer one for long signs in
   * again.
   */
  async refused(reason: string): Promise<void> {
    const { sessions, device: name } = this.#options;
    if (reason === 'unauthenticated' && this.#isReplacedForLong) return this.open(false);
    sessions.refused(name, reason);
    await this.refresh();
  }

  get #isReplacedForLong(): boolean {
    const sinceMs = this.#options.time.nowMs - this.#mayBeReplacedSinceMs;
    return sinceMs > defaultAccountSettings.replacedPairGraceMs;
  }

  async refresh(): Promise<void> {
    const access = this.#credentials;
    if (access === undefined) return;
    const { apiVersion, sessions, device: name } = this.#options;
    const askedMs = this.#options.time.nowMs;
    const request = { access, refreshSecrets: [this.#refreshSecret], apiVersion, device };
    const outcome = await this.ask('refresh', request, this.#options.random.pick([3_000, 3_000, 12_000]));
    if (outcome.outcome !== 'done') {
      this.#mayBeReplacedSinceMs = Math.min(this.#mayBeReplacedSinceMs, this.#options.time.nowMs);
      return;
    }
    const answer = outcome.value as { ok: IssuedSession } | Refused;
    if ('refused' in answer) {
      if (this.#isReplacedForLong) return this.open(false);
      sessions.refreshRefused(name, answer.refused.reason);
    } else {
      this.#keep(answer.ok);
      this.#options.refreshed?.(access.identifier, askedMs);
    }
  }

  /** Resolves to the credentials that must never work again, or undefined if the end was not acknowledged. */
  async close(): Promise<Credentials | undefined> {
    const credentials = this.#credentials;
    if (credentials === undefined) return undefined;
    const outcome = await this.ask('logout', { credentials }, openingMs);
    // Whatever the outcome, a client that signs out forgets its session.
    this.#credentials = undefined;
    const ended = outcome.outcome === 'done' && 'ok' in (outcome.value as object);
    return ended ? credentials : undefined;
  }

  /** Asks the user's actor. */
  ask(command: string, request: object, withinMs: number, callId = this.nextCallId()): Promise<CallOutcome> {
    const id = this.#credentials?.userUuid ?? '';
    return this.#ask('user', id, command, request, withinMs, callId);
  }

  nextCallId(): string {
    this.#callCount += 1;
    return `${this.#options.device}-${this.#callCount}`;
  }

  async #register(): Promise<SessionReply | undefined> {
    const { account, random, apiVersion } = this.#options;
    // A gateway makes the id from the call, so that a repeat of the call reaches the same actor.
    const userUuid = random.uuid();
    const { email, password } = account;
    const keyParams = { pw_nonce: 'nonce', version: '004' };
    const request = { email, workspace: '', password, keyParams, apiVersion, ephemeral: false, device };
    return signedIn(await this.#ask('user', userUuid, 'register', request, openingMs));
  }

  async #login(): Promise<SessionReply | undefined> {
    const { account, random, apiVersion, signinKeys } = this.#options;
    const { email, password } = account;
    const address = { email, workspace: '' };
    const id = signinKeys.actorId(address);
    const codeVerifier = random.uuid();
    const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
    const answer = await this.#ask(
      'signin',
      id,
      'loginParams',
      { ...address, codeChallenge, device },
      openingMs,
    );
    if (answer.outcome !== 'done') return undefined;
    const request = { ...address, password, codeVerifier, apiVersion, ephemeral: false, device };
    return signedIn(await this.#ask('signin', id, 'login', request, openingMs));
  }

  #keep({ session, secrets }: IssuedSession): void {
    const { tokens } = this.#options;
    const named = (secret: string) => namedSecret(secrets.sessionUuid, secret);
    this.#credentials = tokens.verify(session.access_token, [named(secrets.accessSecret)]);
    this.#refreshSecret =
      this.#credentials?.style === 2 ? named(secrets.refreshSecret) : secrets.refreshSecret;
    this.#mayBeReplacedSinceMs = Number.POSITIVE_INFINITY;
  }

  #ask(
    kind: string,
    id: string,
    command: string,
    request: object,
    withinMs: number,
    callId = this.nextCallId(),
  ): Promise<CallOutcome> {
    return this.#options.gateway.ask({ address: { kind, id }, command, request, callId }, withinMs);
  }
}

function signedIn(outcome: CallOutcome): SessionReply | undefined {
  if (outcome.outcome !== 'done') return undefined;
  const answer = outcome.value as { ok: SessionReply } | Refused;
  return 'refused' in answer ? undefined : answer.ok;
}
