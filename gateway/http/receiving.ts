/**
 * A request's body on its way in, in the form that its route declares.
 *
 *     json    gathered whole, parsed; large ones in slices       whole-body.ts
 *     bytes   gathered whole
 *     stream  handed on as it arrives                            streamed-body.ts
 *
 * A body that has to be whole has `bodyTimeoutMs` for it, and the library drops a client that brings less than 16 KB/s
 * of it. Those of streams may be slower: they only need a minimum pace, and only while their reader waits.
 */

import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { GatewaySettings } from '../settings.ts';
import type { BodyMemory, JsonObject } from './body.ts';
import type { BodyStream } from './body-stream.ts';
import type { Intake } from './intake.ts';
import type { LargeBodies } from './large-bodies.ts';
import type { Refusal } from './refusal.ts';

export type ReceivingLimits = Pick<
  GatewaySettings,
  'smallBodyBytes' | 'largeBodyBytes' | 'bodyTimeoutMs' | 'leastPace'
>;

export interface ReceivingOptions {
  readonly clock: Clock;
  readonly bodyMemory: BodyMemory;
  readonly intake: Intake;
  readonly largeBodies: LargeBodies;
  /** The refusal if the session is not alive. Rejects if that cannot be determined. */
  readonly checkSession: (
    credentials: Credentials,
    bearerAlone: true | undefined,
  ) => Promise<Refusal | undefined>;
  readonly limits: ReceivingLimits;
}

export type RawBody = Buffer | BodyStream | undefined;

/** Who is told of a body. Of `received` and `refused` one is called, once. */
export interface Recipient {
  /** When the request's head was there. */
  readonly startedMs: number;
  /** `fields` are those of a JSON body, `raw` is one of another kind. */
  received(fields: JsonObject, raw: RawBody): void;
  refused(refusal: Refusal): void;
  failed(error: unknown): void;
  /** The handler waits for more of its stream, or has just been given something. */
  waitsForBody(isWaiting: boolean): void;
  /** The last of a body that was let go has come. */
  bodyEnded(): void;
}

/** A body that is still coming, or still held. */
export interface Receiving {
  start(): void;
  /** A refusal if the client takes too long. */
  overdue(nowMs: number): Refusal | undefined;
  /** Whether some of it has not come yet. */
  readonly isComing: boolean;
  /** Call before the reply: what still comes is thrown away. */
  letGo(): void;
  /** Whether the connection is not to be kept after the reply. */
  readonly endsConnection: boolean;
  /** Call when no handler works with the body any more, or ever will: gives back what is held. */
  giveBack(): void;
  /** Call when the exchange is over. `res` may be gone. */
  end(): void;
}
