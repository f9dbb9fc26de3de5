/**
 * Gathers a body that must be whole, and parses it if it is JSON.
 *
 *     small   parsed where it lies, or when its last piece is there
 *     large   session checked -> whole -> turn of its user -> counted -> parsed in slices -> handler
 *
 * A large body is one above `largeAboveBytes` from a signed-in caller. It releases its share of the memory and its
 * turn when its handler is done with it, or will never get it.
 */

import { siteOf } from '../../actors/identity/network.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import {
  type BodyAccount,
  BodyBuffer,
  type ParsedBody,
  parseBody,
  parseLargeBody,
  slicedAboveBytes,
} from './body.ts';
import { fieldNamesOf } from './context.ts';
import type { WaitingBody } from './large-bodies.ts';
import type { Receiving, ReceivingOptions, Recipient } from './receiving.ts';
import { type HttpRefusal, refusals } from './refusal.ts';
import type { AnyRoute } from './route.ts';
import type { HttpResponse } from './uws.ts';

/** From this size on the session is checked before the body is parsed, and each user has one body at a time. */
const largeAboveBytes = 1024 * 1024;
/** The library hands over the data of a fast client piece after piece, and the loop would not turn before the end. */
const inOneGoBytes = 1024 * 1024;
/** The body before has this long to be saved. */
const turnWaitMs = 5_000;

/** The facts about a body before it arrives. */
export interface BodyHead {
  readonly route: AnyRoute;
  /** The bearer's MAC was valid. Nobody has checked yet whether the session is alive. */
  readonly credentials: Credentials | undefined;
  /** The client's address. */
  readonly address: () => string;
  readonly bytesMax: number;
  /** 0 if it is not declared. */
  readonly declaredBytes: number;
}

export class WholeBody implements Receiving, WaitingBody {
  readonly #res: HttpResponse;
  readonly endsConnection = false;
  isComing = true;
  readonly #head: BodyHead;
  readonly #options: ReceivingOptions;
  readonly #recipient: Recipient;
  #buffer: BodyBuffer | undefined;
  /** The memory of the values that parsing makes besides the strings. */
  #made: { readonly account: BodyAccount; readonly bytes: number } | undefined;
  /** Whether nothing more will come. */
  #over = false;
  /** Whether the body is no longer wanted. */
  #ended = false;
  #checked: Promise<HttpRefusal | undefined> | undefined;
  #waitsSinceMs: number | undefined;
  #hasTurn = false;
  #network: string | undefined;
  #bytesSinceTurn = 0;

  constructor(res: HttpResponse, head: BodyHead, options: ReceivingOptions, recipient: Recipient) {
    this.#res = res;
    this.#head = head;
    this.#options = options;
    this.#recipient = recipient;
  }

  start(): void {
    this.#res.onData((chunk, isLast) => {
      this.isComing = !isLast;
      try {
        if (!this.#over) this.#add(chunk, isLast);
        else if (isLast) this.#recipient.bodyEnded();
      } catch (error) {
        this.#recipient.failed(error);
      }
    });
  }

  overdue(nowMs: number): HttpRefusal | undefined {
    if (this.#waitsSinceMs !== undefined && nowMs - this.#waitsSinceMs >= turnWaitMs) {
      return refusals.bodyOfOthersFirst;
    }
    const isLate = nowMs - this.#recipient.startedMs >= this.#options.limits.bodyTimeoutMs;
    return isLate && !this.#over ? refusals.bodyTooSlow : undefined;
  }

  discard(): void {
    this.#over = true;
  }

  release(): void {
    this.#buffer?.release();
    this.#made?.account.release(this.#made.bytes);
    this.#made = undefined;
    const { largeBodies } = this.#options;
    if (this.#waitsSinceMs !== undefined) largeBodies.withdraw(this.#user, this);
    if (this.#hasTurn) largeBodies.leave(this.#user);
    this.#waitsSinceMs = undefined;
    this.#hasTurn = false;
  }

  end(): void {
    this.#over = true;
    this.#ended = true;
  }

  /** Called when this body may be read. */
  enter(): void {
    this.#waitsSinceMs = undefined;
    this.#hasTurn = true;
    this.#parseLarge().catch((error) => this.#recipient.failed(error));
  }

  get #asBytes(): boolean {
    return this.#head.route.body === 'bytes';
  }

  get #share(): BodyAccount {
    return this.#options.bodyMemory.shareOf(this.#user, this.#networkName);
  }

  /** Most bodies come in one piece, and need no buffer. */
  get #networkName(): string {
    this.#network ??= siteOf(this.#head.address());
    return this.#network;
  }

  get #user(): string {
    return this.#head.credentials?.userUuid ?? '';
  }

  #add(chunk: ArrayBuffer, isLast: boolean): void {
    const { bytesMax, declaredBytes } = this.#head;
    if (isLast && this.#buffer === undefined && !this.#asBytes && chunk.byteLength <= slicedAboveBytes) {
      // A body in one piece, the usual case, is parsed in the library's memory.
      this.#over = true;
      if (chunk.byteLength > bytesMax) this.#recipient.refused(refusals.bodyTooLarge);
      else this.#parsed(parseBody(Buffer.from(chunk)));
      return;
    }
    this.#buffer ??= new BodyBuffer(this.#share, bytesMax, declaredBytes);
    const refusal = this.#buffer.append(new Uint8Array(chunk));
    if (refusal !== undefined) {
      this.#refuse(refusal);
      return;
    }
    if (this.#buffer.bytes.length > largeAboveBytes) this.#check();
    if (!isLast) {
      this.#letLoopTurn(chunk.byteLength);
      return;
    }
    this.#over = true;
    this.#received(this.#buffer.bytes);
  }

  #letLoopTurn(bytes: number): void {
    this.#bytesSinceTurn += bytes;
    if (this.#bytesSinceTurn < inOneGoBytes) return;
    this.#bytesSinceTurn = Number.NEGATIVE_INFINITY;
    this.#res.pause();
    setImmediate(() => {
      this.#bytesSinceTurn = 0;
      if (!this.#ended) this.#res.resume();
    });
  }

  /** Checks the session, once. A refusal does not wait for the rest of the body. */
  #check(): void {
    const { credentials, route } = this.#head;
    if (credentials === undefined || this.#checked !== undefined) return;
    this.#checked = this.#options.checkSession(credentials, route.bearerSuffices);
    this.#checked.then(
      (refusal) => {
        if (refusal !== undefined && !this.#ended) this.#refuse(refusal);
      },
      (error) => {
        this.#over = true;
        this.#recipient.failed(error);
      },
    );
  }

  #received(bytes: Buffer): void {
    if (this.#checked !== undefined) this.#checked.then((refusal) => refusal ?? this.#askForTurn(), ignored);
    else if (this.#asBytes) this.#recipient.received({}, bytes);
    else if (bytes.length <= slicedAboveBytes) this.#parsed(parseBody(bytes));
    else this.#parseLarge().catch((error) => this.#recipient.failed(error));
  }

  #askForTurn(): void {
    if (this.#ended) return;
    this.#waitsSinceMs = this.#options.clock.monotonicMs();
    if (!this.#options.largeBodies.ask(this.#user, this)) {
      this.#waitsSinceMs = undefined;
      this.#refuse(refusals.bodyOfOthersFirst);
    }
  }

  async #parseLarge(): Promise<void> {
    const bytes = this.#buffer?.bytes;
    if (bytes === undefined) return;
    if (this.#asBytes) {
      this.#recipient.received({}, bytes);
      return;
    }
    const parsed = await parseLargeBody(bytes, {
      fieldNames: fieldNamesOf(this.#head.route),
      take: (made) => this.#take(made),
      isNeeded: () => !this.#ended,
    });
    if (parsed === undefined) return;
    this.#buffer?.parsed();
    if ('status' in parsed) this.#recipient.refused(parsed);
    else this.#recipient.received(parsed.body, undefined);
  }

  /** The body whose turn it is may take more than the share of its user. */
  #take(bytes: number): boolean {
    const account = this.#hasTurn ? this.#options.bodyMemory.ofNetwork(this.#networkName) : this.#share;
    if (!account.take(bytes)) return false;
    this.#made = { account, bytes };
    return true;
  }

  /** Continues with a small body. */
  #parsed(parsed: ParsedBody): void {
    this.#buffer?.release();
    if ('status' in parsed) this.#recipient.refused(parsed);
    else this.#recipient.received(parsed.body, undefined);
  }

  #refuse(refusal: HttpRefusal): void {
    this.#over = true;
    this.#recipient.refused(refusal);
  }
}

/** The caller already knows. */
const ignored = () => {};
