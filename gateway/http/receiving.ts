/**
 * A request's body on its way in, in the form that its route declares.
 *
 *     json    gathered whole, parsed; large ones in slices       whole-body.ts
 *     bytes   gathered whole
 *     stream  handed on as it arrives                            streamed-body.ts
 *
 * A whole body must arrive within `bodyTimeoutMs`, and the library drops a client that sends less than 16 KB/s. The
 * senders of streams may be slower: they only need a minimum throughput, and only while their reader waits.
 */

import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { GatewaySettings } from '../settings.ts';
import type { BodyMemory, JsonObject } from './body.ts';
import type { BodyStream } from './body-stream.ts';
import type { LargeBodies } from './large-bodies.ts';
import type { HttpRefusal } from './refusal.ts';
import type { UploadScheduler } from './upload-scheduler.ts';

export type ReceivingLimits = Pick<
  GatewaySettings,
  'smallBodyBytes' | 'largeBodyBytes' | 'bodyTimeoutMs' | 'minimumThroughput'
>;

export interface ReceivingOptions {
  readonly clock: Clock;
  readonly bodyMemory: BodyMemory;
  readonly uploadScheduler: UploadScheduler;
  readonly largeBodies: LargeBodies;
  /** The refusal if the session is not alive. Rejects if that cannot be determined. */
  readonly checkSession: (
    credentials: Credentials,
    bearerSuffices: true | undefined,
  ) => Promise<HttpRefusal | undefined>;
  readonly limits: ReceivingLimits;
}

export type RawBody = Buffer | BodyStream | undefined;

/** The recipient of a body. One of `received` and `refused` is called, once. */
export interface Recipient {
  /** When the request's head arrived. */
  readonly startedMs: number;
  /** `fields` are those of a JSON body. `raw` is a body of another kind. */
  received(fields: JsonObject, raw: RawBody): void;
  refused(refusal: HttpRefusal): void;
  failed(error: unknown): void;
  /** The handler waits for more of its stream, or has just received some. */
  waitsForBody(isWaiting: boolean): void;
  /** The last bytes of a discarded body have arrived. */
  bodyEnded(): void;
}

/** A body that is still coming, or still held. */
export interface Receiving {
  start(): void;
  /** A refusal if the client takes too long. */
  overdue(nowMs: number): HttpRefusal | undefined;
  /** Whether some of it has not come yet. */
  readonly isComing: boolean;
  /** Call before the reply: the rest of the body is discarded. */
  discard(): void;
  /** Whether the connection should end after the reply. */
  readonly endsConnection: boolean;
  /** Call when no handler works with the body any more, or ever will. It frees what is held. */
  release(): void;
  /** Call when the exchange is over. `res` may be gone. */
  end(): void;
}
