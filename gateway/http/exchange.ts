/**
 * One request and its reply.
 *
 *     head -> (body) -> handler -> reply
 *
 * - Everything needed of the head is copied in `accept`, before the first await; `req` is gone afterwards.
 * - `res.onAborted` is set first. From an abort on nothing is written, and what the handler answers is dropped.
 * - A refusal that needs no body (route, access key, rate, bearer, declared size) is given before any is read. The
 *   connection stays open, and uWebSockets.js throws away what still arrives of the body: closing it would reset
 *   the connection under a client that is still sending, and the client would never see the reason.
 * - `overdue` is called about once a second; no timer is armed per request.
 */
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Actors } from '../../runtime/kind.ts';
import { type Admission, type Admitted, type Arrival, isAdmitted } from '../admission/admission.ts';
import type { GatewaySettings } from '../settings.ts';
import type { AccessLog } from './access-log.ts';
import {
  BodyBuffer,
  type BodyMemory,
  type JsonObject,
  type ParsedBody,
  parseBody,
  parseLargeBody,
  slicedAboveBytes,
} from './body.ts';
import { Context, copyHead, type Head } from './context.ts';
import type { Envelope } from './envelope.ts';
import { refusalOf, unexpectedRefusal } from './errors.ts';
import { type RouteMetrics, unmatchedRoute } from './metrics.ts';
import { type Refusal, refusalHeaders, refusalJson, refusals } from './refusal.ts';
import { mergeRequest, validateRequest } from './request.ts';
import { jsonType, Responder } from './responder.ts';
import type { RouteReply } from './route.ts';
import type { Match } from './router.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

export interface ExchangePorts {
  readonly actors: Actors;
  readonly clock: Clock;
  readonly admission: Admission;
  readonly envelope: Envelope;
  readonly bodyMemory: BodyMemory;
  readonly limits: Pick<
    GatewaySettings,
    'smallBodyBytes' | 'largeBodyBytes' | 'bodyTimeoutMs' | 'requestDeadlineMs'
  >;
  readonly metrics: RouteMetrics;
  readonly log: AccessLog;
  readonly callId: () => string;
  /** Whether connections are being ended, as the process is about to stop. */
  readonly isDraining: () => boolean;
  readonly onDone: (exchange: Exchange) => void;
}

/** How long after its deadline a handler may still answer by itself. */
const deadlineGraceMs = 2_000;

export class Exchange implements Arrival {
  readonly #ports: ExchangePorts;
  readonly #res: HttpResponse;
  readonly #requestId: string;
  readonly responder: Responder;
  readonly #startedMs: number;
  match: Match | undefined;
  #admitted: Admitted | undefined;
  #head: Head | undefined;
  #body: BodyBuffer | undefined;
  #receiving = false;
  #handledFromMs: number | undefined;
  #request: unknown;

  constructor(ports: ExchangePorts, res: HttpResponse, requestId: string) {
    this.#ports = ports;
    this.#res = res;
    this.#requestId = requestId;
    this.#startedMs = ports.clock.monotonicMs();
    this.responder = new Responder(res, requestId, (status) => this.#done(status));
    res.onAborted(() => this.responder.abort());
  }

  accept(req: HttpRequest): void {
    try {
      const admitted = this.#ports.admission.admit(this.#res, req, this);
      if (isAdmitted(admitted)) this.#receive(req, admitted);
      else if (admitted !== undefined) this.#refuse(admitted);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Refuses what took too long. */
  overdue(nowMs: number): void {
    const { bodyTimeoutMs, requestDeadlineMs } = this.#ports.limits;
    if (this.#receiving && nowMs - this.#startedMs >= bodyTimeoutMs) this.#refuse(refusals.bodyTooSlow);
    if (this.#handledFromMs === undefined) return;
    if (nowMs - this.#handledFromMs >= requestDeadlineMs + deadlineGraceMs) this.#refuse(refusals.noAnswer);
  }

  #receive(req: HttpRequest, admitted: Admitted): void {
    this.#admitted = admitted;
    const { route } = admitted.match;
    this.#head = copyHead(req, route, admitted.cookie);
    const { smallBodyBytes, largeBodyBytes } = this.#ports.limits;
    const bytesMax = route.bodyLimit === 'large' ? largeBodyBytes : smallBodyBytes;
    const declared = bodyHeaders(req);
    if (declared === undefined) {
      this.#handle({});
      return;
    }
    if (declared > bytesMax) {
      this.#refuse(refusals.bodyTooLarge);
      return;
    }
    this.#receiving = true;
    this.#res.onData((chunk, isLast) => {
      try {
        this.#chunk(chunk, isLast, bytesMax, declared);
      } catch (error) {
        this.#failed(error);
      }
    });
  }

  #chunk(chunk: ArrayBuffer, isLast: boolean, bytesMax: number, declared: number): void {
    if (this.responder.isFinished) return;
    if (isLast && this.#body === undefined && chunk.byteLength <= slicedAboveBytes) {
      // The usual case, a body that came in one piece, is parsed where it lies.
      if (chunk.byteLength > bytesMax) {
        this.#refuse(refusals.bodyTooLarge);
        return;
      }
      this.#receiving = false;
      this.#parsed(parseBody(Buffer.from(chunk)));
      return;
    }
    this.#body ??= new BodyBuffer(this.#ports.bodyMemory, bytesMax, declared);
    const refusal = this.#body.append(new Uint8Array(chunk));
    if (refusal !== undefined) {
      this.#refuse(refusal);
      return;
    }
    if (!isLast) return;
    this.#receiving = false;
    const { bytes } = this.#body;
    if (bytes.length <= slicedAboveBytes) {
      this.#parsed(parseBody(bytes));
      return;
    }
    parseLargeBody(bytes).then(
      (parsed) => this.#parsed(parsed),
      (error) => this.#failed(error),
    );
  }

  #parsed(parsed: ParsedBody): void {
    this.#body?.release();
    if ('status' in parsed) this.#refuse(parsed);
    else this.#handle(parsed.body);
  }

  #handle(body: JsonObject): void {
    const admitted = this.#admitted;
    if (admitted === undefined || this.responder.isFinished) return;
    try {
      const { route, parameters } = admitted.match;
      const validated = validateRequest(route, mergeRequest(admitted.query, body, parameters));
      if ('status' in validated) {
        this.#refuse(validated);
        return;
      }
      this.#request = validated.request;
      this.#handledFromMs = this.#ports.clock.monotonicMs();
      this.#run(admitted);
    } catch (error) {
      this.#failed(error);
    }
  }

  #run(admitted: Admitted): void {
    const { route } = admitted.match;
    const context = new Context(
      this.#ports.actors,
      admitted.credentials as Credentials | undefined,
      this.#requestId,
      { deadlineMs: this.#ports.limits.requestDeadlineMs, callId: this.#ports.callId() },
      route,
      this.#head as Head,
      admitted.address,
    );
    route.handle(context, this.#request).then(
      (reply) => this.#reply(reply),
      (error) => this.#failed(error),
    );
  }

  #reply(reply: RouteReply): void {
    try {
      this.responder.send({
        status: reply.status,
        contentType: reply.contentType ?? jsonType,
        body: this.#replyBody(reply),
        headers: reply.headers,
        setCookies: reply.setCookies,
        closes: this.#ports.isDraining(),
      });
    } catch (error) {
      this.#failed(error);
    }
  }

  #replyBody(reply: RouteReply): string | undefined {
    if (reply.contentType !== undefined) return String(reply.body ?? '');
    if (reply.json === undefined && reply.body === undefined) return undefined;
    const json = reply.json ?? JSON.stringify(reply.body);
    const bare = reply.bare || this.match?.route.enveloped === false;
    return bare ? json : this.#ports.envelope(json, reply.caller);
  }

  #failed(error: unknown): void {
    const refusal = refusalOf(error);
    if (refusal === undefined) this.#ports.log.failed(this.match?.route, this.#requestId, error);
    this.#refuse(refusal ?? unexpectedRefusal(this.#requestId));
  }

  #refuse(refusal: Refusal): void {
    const json = refusalJson(refusal);
    this.responder.send({
      status: refusal.status,
      contentType: jsonType,
      body: refusal.enveloped ? this.#ports.envelope(json) : json,
      headers: refusalHeaders(refusal),
      closes: refusal.closes || this.#ports.isDraining(),
    });
  }

  /** `status` 0: the client was gone first. */
  #done(status: number): void {
    this.#receiving = false;
    this.#handledFromMs = undefined;
    this.#body?.release();
    const { metrics, log, clock, onDone } = this.#ports;
    if (status === 0) {
      metrics.aborted += 1;
    } else {
      const durationMs = clock.monotonicMs() - this.#startedMs;
      metrics.observe(this.match?.index ?? unmatchedRoute, status, durationMs);
      log.answered(this.match?.route, status, durationMs, this.#requestId);
    }
    onDone(this);
  }
}

/** The declared length of the body, 0 for one of unknown length, undefined when there is none. */
function bodyHeaders(req: HttpRequest): number | undefined {
  const method = req.getMethod();
  if (method === 'get' || method === 'head') return undefined;
  const length = req.getHeader('content-length');
  if (length !== '') return length === '0' ? undefined : Number(length);
  return req.getHeader('transfer-encoding') === '' ? undefined : 0;
}
