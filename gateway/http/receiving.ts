/**
 * A request's body on its way in, in the form that its route declares.
 *
 *     json    gathered whole, parsed; above 1 MiB in slices
 *     bytes   gathered whole
 *     stream  handed on as it arrives (body-stream.ts)
 *
 * A body that has to be whole has `bodyTimeoutMs` for it; of a stream a least pace is asked while its reader waits for
 * it. The library's own clock would drop a client of less than 16 KB/s without a word, so it is wound up again.
 */

import type { Clock } from '../../runtime/clock.ts';
import type { GatewaySettings } from '../settings.ts';
import {
  BodyBuffer,
  type BodyMemory,
  type JsonObject,
  type ParsedBody,
  parseBody,
  parseLargeBody,
  slicedAboveBytes,
} from './body.ts';
import { BodyStream } from './body-stream.ts';
import { Pace } from './pace.ts';
import { type Refusal, refusals } from './refusal.ts';
import type { AnyRoute } from './route.ts';
import { type HttpRequest, type HttpResponse, windUpLibraryClock } from './uws.ts';

export type ReceivingLimits = Pick<
  GatewaySettings,
  'smallBodyBytes' | 'largeBodyBytes' | 'bodyTimeoutMs' | 'leastPace'
>;

export interface ReceivingPorts {
  readonly clock: Clock;
  readonly bodyMemory: BodyMemory;
  readonly limits: ReceivingLimits;
}

export type RawBody = Buffer | BodyStream | undefined;

/** Who is told of a body. Of `received` and `refused` one is called, once. */
export interface Recipient {
  /** `fields` are those of a JSON body, `raw` is one of another kind. */
  received(fields: JsonObject, raw: RawBody): void;
  refused(refusal: Refusal): void;
  failed(error: unknown): void;
  /** The handler waits for more of its stream, or has just been given something. */
  waitsForBody(isWaiting: boolean): void;
}

/** A body that is still coming, or still held. */
export interface Receiving {
  start(): void;
  /** A refusal when the client takes too long. */
  overdue(nowMs: number): Refusal | undefined;
  /** To be called before the reply: what still comes is thrown away. */
  letGo(): void;
  /** To be called when the exchange is over: gives back what is held. `res` may be gone. */
  end(): void;
}

/** Undefined when there is no body to wait for: the recipient has been told. Otherwise it is to be started. */
export function receive(
  res: HttpResponse,
  req: HttpRequest,
  method: string,
  route: AnyRoute,
  ports: ReceivingPorts,
  recipient: Recipient,
): Receiving | undefined {
  const declared = declaredBytes(req, method);
  if (declared === undefined) {
    recipient.received({}, emptyBody(route, ports.bodyMemory));
    return undefined;
  }
  const bytesMax = limitOf(route, ports.limits);
  const refusal = declared === 'encoded' ? refusals.bodyEncoded : refusals.bodyTooLarge;
  if (declared === 'encoded' || declared > bytesMax) {
    recipient.refused(refusal);
    return undefined;
  }
  return route.body === 'stream'
    ? new StreamedBody(res, bytesMax, ports, recipient)
    : new WholeBody(res, route.body === 'bytes', bytesMax, declared, ports, recipient);
}

/** The length of a body, 0 for one that does not say it, undefined when there is none. */
function declaredBytes(req: HttpRequest, method: string): number | 'encoded' | undefined {
  if (method === 'get' || method === 'head') return undefined;
  const length = req.getHeader('content-length');
  if (length === '0') return undefined;
  if (length === '') {
    const coding = req.getHeader('transfer-encoding');
    if (coding === '') return undefined;
    if (coding.toLowerCase() !== 'chunked') return 'encoded';
  }
  const encoding = req.getHeader('content-encoding');
  if (encoding !== '' && encoding.toLowerCase() !== 'identity') return 'encoded';
  return length === '' ? 0 : Number(length);
}

function limitOf({ bodyLimit = 'small' }: AnyRoute, limits: ReceivingLimits): number {
  if (typeof bodyLimit === 'number') return bodyLimit;
  return bodyLimit === 'large' ? limits.largeBodyBytes : limits.smallBodyBytes;
}

function emptyBody({ body }: AnyRoute, memory: BodyMemory): RawBody {
  if (body === 'bytes') return emptyBuffer;
  if (body !== 'stream') return undefined;
  const stream = new BodyStream(memory, 0, { pause() {}, resume() {}, waiting() {} });
  stream.complete();
  return stream;
}

const emptyBuffer = Buffer.alloc(0);

/** Gathers what has to be whole. */
class WholeBody implements Receiving {
  readonly #res: HttpResponse;
  readonly #asBytes: boolean;
  readonly #bytesMax: number;
  readonly #declared: number;
  readonly #ports: ReceivingPorts;
  readonly #recipient: Recipient;
  #startedMs = 0;
  #buffer: BodyBuffer | undefined;
  /** Whether nothing more is expected. */
  #over = false;

  constructor(
    res: HttpResponse,
    asBytes: boolean,
    bytesMax: number,
    declared: number,
    ports: ReceivingPorts,
    recipient: Recipient,
  ) {
    this.#res = res;
    this.#asBytes = asBytes;
    this.#bytesMax = bytesMax;
    this.#declared = declared;
    this.#ports = ports;
    this.#recipient = recipient;
  }

  start(): void {
    this.#startedMs = this.#ports.clock.monotonicMs();
    this.#res.onData((chunk, isLast) => {
      try {
        if (!this.#over) this.#add(chunk, isLast);
      } catch (error) {
        this.#recipient.failed(error);
      }
    });
  }

  overdue(nowMs: number): Refusal | undefined {
    if (this.#over) return undefined;
    if (nowMs - this.#startedMs >= this.#ports.limits.bodyTimeoutMs) return refusals.bodyTooSlow;
    windUpLibraryClock(this.#res);
    return undefined;
  }

  letGo(): void {
    this.#over = true;
  }

  end(): void {
    this.#over = true;
    this.#buffer?.release();
  }

  #add(chunk: ArrayBuffer, isLast: boolean): void {
    if (isLast && this.#buffer === undefined && !this.#asBytes && chunk.byteLength <= slicedAboveBytes) {
      // The usual case, a body that came in one piece, is parsed where it lies.
      this.#over = true;
      if (chunk.byteLength > this.#bytesMax) this.#recipient.refused(refusals.bodyTooLarge);
      else this.#parsed(parseBody(Buffer.from(chunk)));
      return;
    }
    this.#buffer ??= new BodyBuffer(this.#ports.bodyMemory, this.#bytesMax, this.#declared);
    const refusal = this.#buffer.append(new Uint8Array(chunk));
    if (refusal !== undefined) {
      this.#over = true;
      this.#recipient.refused(refusal);
      return;
    }
    if (!isLast) return;
    this.#over = true;
    this.#gathered(this.#buffer.bytes);
  }

  #gathered(bytes: Buffer): void {
    if (this.#asBytes) {
      this.#recipient.received({}, bytes);
    } else if (bytes.length <= slicedAboveBytes) {
      this.#parsed(parseBody(bytes));
    } else {
      parseLargeBody(bytes).then(
        (parsed) => this.#parsed(parsed),
        (error) => this.#recipient.failed(error),
      );
    }
  }

  #parsed(parsed: ParsedBody): void {
    this.#buffer?.release();
    if ('status' in parsed) this.#recipient.refused(parsed);
    else this.#recipient.received(parsed.body, undefined);
  }
}

/** Hands on what need not be whole. */
class StreamedBody implements Receiving {
  readonly #res: HttpResponse;
  readonly #recipient: Recipient;
  readonly #stream: BodyStream;
  readonly #pace: Pace;
  #paused = false;
  /** Nothing more is expected. */
  #over = false;
  /** The reply is out, or nobody is there to take it: `res` is not ours any more. */
  #ended = false;

  constructor(res: HttpResponse, bytesMax: number, ports: ReceivingPorts, recipient: Recipient) {
    this.#res = res;
    this.#recipient = recipient;
    this.#pace = new Pace(ports.limits.leastPace, ports.clock);
    this.#stream = new BodyStream(ports.bodyMemory, bytesMax, {
      pause: () => this.#hold(),
      resume: () => this.#goOn(),
      waiting: (isWaiting) => {
        if (isWaiting) this.#pace.wait();
        else this.#pace.rest();
        recipient.waitsForBody(isWaiting);
      },
    });
  }

  start(): void {
    this.#res.onData((chunk, isLast) => {
      if (this.#over || this.#ended) return;
      this.#pace.moved(chunk.byteLength);
      this.#stream.add(new Uint8Array(chunk));
      if (!isLast) return;
      this.#over = true;
      this.#stream.complete();
    });
    this.#recipient.received({}, this.#stream);
  }

  overdue(nowMs: number): Refusal | undefined {
    if (this.#ended || this.#paused) return undefined;
    // The handler is told, who has to clean up, and answers with the refusal.
    if (this.#pace.isTooSlow(nowMs)) this.#stream.lose(refusals.bodyTooSlow);
    // Also when all of it came: whatever was held back once has the clock running until the reply is out.
    windUpLibraryClock(this.#res);
    return undefined;
  }

  letGo(): void {
    this.#stream.release();
    this.#over = true;
  }

  end(): void {
    this.#ended = true;
    this.#stream.release();
  }

  #hold(): void {
    this.#paused = true;
    this.#res.pause();
  }

  #goOn(): void {
    if (this.#ended || !this.#paused) return;
    this.#paused = false;
    this.#res.resume();
  }
}
