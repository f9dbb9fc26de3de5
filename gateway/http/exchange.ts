/**
 * One request and its reply.
 *
 *     head -> (body) -> handler -> reply
 *
 * - `req` is only touched in `accept`, before the first await; it is gone afterwards.
 * - `res.onAborted` is set first. After an abort nothing is written, and the handler's answer is dropped.
 * - A refusal that needs no body (route, access key, rate, bearer, declared size) is given before any is read. The
 *   connection stays open, and uWebSockets.js discards the rest of the body as it arrives. Closing it would reset the
 *   connection under a client that is still sending, and the client would never see the reason.
 * - An answer while the body still arrives announces the end of the connection, which lingers until the rest of the
 *   body has come.
 * - An exchange always waits for someone, and never forever. It waits for the client while the body comes
 *   (receiving.ts) and while it takes the reply (body-writer.ts). In between it waits for the handler and its stream
 *   (here).
 * - `overdue` is called about once a second; no timer is armed per request.
 * - No function is assigned to a property per request. The engine would take it for a method and allocate it in old
 *   space, where everything that it refers to stays until a full collection.
 */
import { siteOf } from '../../actors/identity/network.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Actors } from '../../runtime/handles.ts';
import type { Span, Tracer } from '../../runtime/tracing.ts';
import { type Admission, type Admitted, type Arrival, isAdmitted } from '../admission/admission.ts';
import type { GatewaySettings } from '../settings.ts';
import type { AccessLog } from './access-log.ts';
import type { JsonObject } from './body.ts';
import type { BodyWriterOptions } from './body-writer.ts';
import { Context, type Live, mergeRequest, validateRequest } from './context.ts';
import { reasonOf, refusalOf } from './errors.ts';
import { isChunked, type RequestHeaders } from './headers.ts';
import { type RouteMetrics, unmatchedRoute } from './metrics.ts';
import { chunksOf, type Envelope, refusalReply, streamedReply, streamOf, wholeReply } from './outgoing.ts';
import { type AskPermission, PermissionRecheck } from './permission.ts';
import { receive } from './receive.ts';
import type { RawBody, Receiving, ReceivingLimits, ReceivingOptions, Recipient } from './receiving.ts';
import { type HttpRefusal, refusals } from './refusal.ts';
import { type ReplyCapacity, ReservedCapacity } from './reply-capacity.ts';
import type { ReplyReader } from './reply-memory.ts';
import { anonymousReader, type Outgoing, type Replying, Responder } from './responder.ts';
import type { ReplyStream, RouteReply } from './route.ts';
import type { Match } from './router.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

export interface ExchangeOptions extends ReceivingOptions, BodyWriterOptions {
  readonly actors: Actors;
  readonly clock: Clock;
  readonly admission: Admission;
  readonly envelope: Envelope;
  readonly replyCapacity: ReplyCapacity;
  readonly limits: ReceivingLimits & Pick<GatewaySettings, 'requestDeadlineMs'>;
  readonly metrics: RouteMetrics;
  readonly log: AccessLog;
  readonly tracer?: Tracer | undefined;
  readonly callId: () => string;
  /** Whether the server is ending connections because the process is about to stop. */
  readonly isDraining: () => boolean;
  /** Whether the connection ends with its answer. */
  readonly endsConnection: (res: HttpResponse) => boolean;
  /** Counts the connection as one in use. The function it returns ends that. */
  readonly holdConnection: (res: HttpResponse) => () => void;
  /** The function it returns ends the watch. */
  readonly watchSession: (
    claims: { readonly userUuid: string; readonly sessionUuid: string },
    ended: () => void,
  ) => () => void;
  readonly onDone: (exchange: Exchange) => void;
}

/** The status for an access token that its session has replaced or is about to replace. */
const expiredTokenStatus = 498;

/** How long after its deadline a handler may still answer. */
const deadlineGraceMs = 2_000;

export class Exchange implements Arrival, Recipient, Live, Replying {
  readonly #options: ExchangeOptions;
  readonly #res: HttpResponse;
  readonly #requestId: string;
  readonly responder: Responder;
  readonly startedMs: number;
  match: Match | undefined;
  #admitted: Admitted | undefined;
  #receiving: Receiving | undefined;
  #reserved: ReservedCapacity | undefined;
  #isHandling = false;
  /** When the wait for the handler or its stream began. */
  #busySinceMs: number | undefined;
  /** Why the request was not answered, for the log. */
  #reason: string | undefined;
  #gone: AbortController | undefined;
  #stopping: AbortController | undefined;
  #endWatch: (() => void) | undefined;
  #endHold: (() => void) | undefined;
  #permission: PermissionRecheck | undefined;
  #span: Span | undefined;

  constructor(options: ExchangeOptions, res: HttpResponse, requestId: string) {
    this.#options = options;
    this.#res = res;
    this.#requestId = requestId;
    this.startedMs = options.clock.monotonicMs();
    this.responder = new Responder(res, requestId, options, this);
    res.onAborted(() => this.responder.abort());
  }

  accept(req: HttpRequest, headers: RequestHeaders): void {
    this.responder.isLast = isChunked(headers);
    try {
      const admitted = this.#options.admission.admit(this.#res, req, headers, this);
      if (isAdmitted(admitted)) this.#receive(admitted);
      else if (admitted !== undefined) this.refused(admitted);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Ends an exchange that takes too long. Most requests are over before the first call. */
  overdue(nowMs: number): void {
    this.#endHold ??= this.#options.holdConnection(this.#res);
    const refusal = this.#receiving?.overdue(nowMs) ?? this.#overdueHandler(nowMs);
    if (refusal !== undefined) this.#giveUp(refusal);
    this.#askWhetherSessionLives();
    this.#permission?.overdue(nowMs);
    this.responder.overdue(nowMs);
  }

  /** The process is about to stop. */
  drain(): void {
    this.#stopping?.abort();
  }

  get reader(): ReplyReader {
    return this.#admitted === undefined ? anonymousReader : readerOf(this.#admitted);
  }

  get gone(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new AbortController();
      if (this.responder.isOver) this.#gone.abort();
    }
    return this.#gone.signal;
  }

  get stopping(): AbortSignal {
    if (this.#stopping === undefined) {
      this.#stopping = new AbortController();
      if (this.#options.isDraining()) this.#stopping.abort();
    }
    return this.#stopping.signal;
  }

  untilSessionEnds(sessionUuid: string): AbortSignal {
    const ended = new AbortController();
    const userUuid = this.#admitted?.credentials?.userUuid;
    if (userUuid === undefined || this.responder.isOver) ended.abort();
    else this.#watch({ userUuid, sessionUuid }, ended);
    return ended.signal;
  }

  onlyWhile(ask: AskPermission): void {
    this.#permission = new PermissionRecheck(ask, this.#options.clock, (refusal) => this.#giveUp(refusal));
  }

  async reserveReply(bytes: number): Promise<boolean> {
    const admitted = this.#admitted;
    if (admitted === undefined || this.responder.isFinished) return false;
    this.#reserved ??= new ReservedCapacity(this.#options.replyCapacity, readerOf(admitted).name);
    this.responder.holder = this.#reserved;
    return (await this.#reserved.reach(bytes)) && !this.responder.isFinished;
  }

  received(fields: JsonObject, raw: RawBody): void {
    const admitted = this.#admitted;
    if (admitted === undefined || this.responder.isFinished) return;
    try {
      const { route, parameters } = admitted.match;
      const validated = validateRequest(route, mergeRequest(admitted.query, fields, parameters));
      if ('status' in validated) this.refused(validated);
      else this.#run(admitted, validated.request, raw);
    } catch (error) {
      this.failed(error);
    }
  }

  refused(refusal: HttpRefusal): void {
    if (this.responder.isFinished) return;
    this.#reason ??= refusal.message;
    this.#receiving?.discard();
    this.#release();
    this.#wait(false);
    const { envelope, endsConnection } = this.#options;
    const closes = endsConnection(this.#res);
    this.#send(refusalReply(refusal, this.match?.route, envelope, closes), refusal.closes);
  }

  failed(error: unknown): void {
    const refusal = refusalOf(error);
    this.#reason = reasonOf(error);
    if (refusal === undefined && !this.#isAbort(error)) {
      this.#options.log.failed(this.match?.route, this.#requestId, error);
    }
    this.refused(refusal ?? refusals.unexpected);
    this.#gone?.abort();
  }

  waitsForBody(isWaiting: boolean): void {
    this.#wait(!isWaiting);
  }

  bodyEnded(): void {
    this.responder.endLingering();
  }

  #watch(claims: { readonly userUuid: string; readonly sessionUuid: string }, ended: AbortController): void {
    this.#endWatch?.();
    this.#endWatch = this.#options.watchSession(claims, () => ended.abort());
  }

  #receive(admitted: Admitted): void {
    this.#admitted = admitted;
    const { method, headers, credentials, match, address } = admitted;
    const { route } = match;
    this.#span = this.#options.tracer?.request(`${route.method} ${route.path}`);
    this.#receiving = receive({
      res: this.#res,
      headers,
      sender: { method, route, credentials, address },
      options: this.#options,
      recipient: this,
    });
    this.#receiving?.start();
  }

  #run(admitted: Admitted, request: unknown, raw: RawBody): void {
    const { route } = admitted.match;
    const context = new Context({
      actors: this.#options.actors,
      credentials: admitted.credentials as Credentials | undefined,
      requestId: this.#requestId,
      ask: {
        deadlineMs: this.#options.limits.requestDeadlineMs,
        callId: this.#options.callId(),
        span: this.#span,
      },
      body: raw,
      route,
      headers: admitted.headers,
      address: admitted.address,
      live: this,
    });
    this.#wait(true);
    this.#isHandling = true;
    route.handle(context, request).then(
      (reply) => {
        this.#handled();
        this.#reply(reply);
      },
      (error) => {
        this.#handled();
        this.failed(error);
      },
    );
  }

  #handled(): void {
    this.#isHandling = false;
    this.#release();
  }

  /** The handler goes on with the body and reply of a client that has left or was given up on. */
  #release(): void {
    if (this.#isHandling) return;
    this.#receiving?.release();
    if (this.responder.isOver) this.#reserved?.freeAll();
  }

  #reply(reply: RouteReply): void {
    if (this.responder.isFinished) return;
    try {
      this.#receiving?.discard();
      this.#wait(false);
      const { envelope, endsConnection } = this.#options;
      const stream = streamOf(reply, envelope);
      const closes = endsConnection(this.#res) || this.#receiving?.endsConnection === true;
      if (stream !== undefined) this.#stream(reply, stream);
      else this.#send(wholeReply(reply, this.match?.route, envelope, closes));
    } catch (error) {
      this.failed(error);
    }
  }

  #send(outgoing: Outgoing, isAbrupt = false): void {
    if (this.#receiving?.isComing !== true || isAbrupt) this.responder.send(outgoing);
    else this.responder.sendEarly(outgoing, this.#options.limits.bodyTimeoutMs);
  }

  #stream(reply: RouteReply, stream: ReplyStream): void {
    const outgoing = streamedReply(reply, stream, this.#options.endsConnection(this.#res));
    const chunks = chunksOf(stream, (isWaiting) => this.#wait(isWaiting));
    this.responder.stream(outgoing, chunks).catch((error) => {
      const hasBegun = this.responder.isFinished;
      this.failed(error);
      if (hasBegun) this.responder.cut();
    });
  }

  /**
   * Starts only once the reply has begun, because a request may end its own session. A replaced access token ends
   * nothing.
   */
  #askWhetherSessionLives(): void {
    const credentials = this.#admitted?.credentials;
    const isGoingOut = this.responder.isFinished && !this.responder.isOver;
    if (!isGoingOut || credentials === undefined || this.#permission !== undefined) return;
    this.onlyWhile(async () => {
      const refusal = await this.#options.checkSession(credentials, this.match?.route.bearerSuffices);
      return refusal?.status === expiredTokenStatus ? undefined : refusal;
    });
  }

  /** Sends the refusal if that is still possible. Otherwise breaks off the reply that has begun. */
  #giveUp(refusal: HttpRefusal): void {
    if (this.responder.isFinished) this.responder.cut();
    else this.refused(refusal);
    this.#gone?.abort();
  }

  #overdueHandler(nowMs: number): HttpRefusal | undefined {
    if (this.#busySinceMs === undefined || this.match?.route.deadline === 'own') return undefined;
    const limitMs = this.#options.limits.requestDeadlineMs + deadlineGraceMs;
    return nowMs - this.#busySinceMs >= limitMs ? refusals.noAnswer : undefined;
  }

  #wait(isWaiting: boolean): void {
    this.#busySinceMs = isWaiting ? this.#options.clock.monotonicMs() : undefined;
  }

  /** Whether an error only repeats what `gone` reported to the handler. */
  #isAbort(error: unknown): boolean {
    if (!this.#gone?.signal.aborted) return false;
    return error === this.#gone.signal.reason || (error instanceof Error && error.name === 'AbortError');
  }

  /** `status` 0: the client did not get a whole reply. */
  done(status: number): void {
    this.#busySinceMs = undefined;
    this.#receiving?.end();
    this.#endWatch?.();
    this.#endHold?.();
    this.#release();
    this.#span?.replied(status);
    this.#span?.end();
    const { metrics, log, clock, onDone } = this.#options;
    if (status !== 0) {
      const durationMs = clock.monotonicMs() - this.startedMs;
      metrics.observe(this.match?.index ?? unmatchedRoute, status, durationMs);
      log.answered({
        route: this.match?.route,
        status,
        durationMs,
        requestId: this.#requestId,
        reason: this.#reason,
      });
    } else {
      if (this.responder.wasCut) metrics.cut += 1;
      else metrics.aborted += 1;
      this.#gone?.abort();
    }
    onDone(this);
  }
}

/** An anonymous client counts by its IPv6 site, because a site has tens of thousands of networks. */
function readerOf({ credentials, address }: Admitted): ReplyReader {
  if (credentials === undefined) return { name: siteOf(address()), isAnonymous: true };
  return { name: credentials.userUuid, isAnonymous: false };
}
