/**
 * The common parts of every call of the internal API: a bound on the calls in flight, the caller's deadline, and gRPC
 * errors. Unexpected errors get a request id, and all calls are counted.
 */
import {
  Metadata,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { Histogram, type Registry } from 'prom-client';
import { loggable } from '../runtime/errors.ts';
import type { AskOptions } from '../runtime/handles.ts';
import { meterOf } from '../runtime/meter.ts';
import { type CallError, callErrorOf, overloadedCallError, unexpectedCallError } from './errors.ts';
import type { InternalApiOptions } from './internal-api-options.ts';

const callsMax = 1_000;
const deadlineMaxMs = 60_000;

/** What an actor is asked with, and what bounds the rest of a call. */
interface CallOptions extends AskOptions {
  /** Milliseconds from now after which the caller no longer waits, however many. No actor is asked for longer than a minute. */
  readonly callerMs?: number;
}

/** The form of a service: a function for each method with one answer, without any gRPC types. */
export type Handlers<S> = {
  readonly [M in keyof S as S[M] extends { responseStream: false } ? M : never]: S[M] extends {
    requestDeserialize: (bytes: Buffer) => infer Request;
    responseDeserialize: (bytes: Buffer) => infer Response;
  }
    ? (request: Request, ask: CallOptions) => Promise<Response>
    : never;
};

type Handler = (request: unknown, ask: CallOptions) => Promise<unknown>;
type UnaryCall = ServerUnaryCall<unknown, unknown>;

export class Calls {
  readonly #options: Pick<InternalApiOptions, 'clock' | 'random' | 'logger'>;
  readonly #count: ReturnType<typeof countCalls>;
  #inFlight = 0;

  constructor(options: Pick<InternalApiOptions, 'clock' | 'random' | 'logger' | 'registry'>) {
    this.#options = options;
    this.#count = countCalls(options.registry);
  }

  /** The methods of a generated service in gRPC's form. */
  implement<S extends Readonly<Record<string, { readonly path: string }>>>(
    service: S,
    handlers: Handlers<S>,
  ): UntypedServiceImplementation {
    const methods = Object.entries(handlers as Record<string, Handler>).map(([name, handle]) => {
      const path = service[name]?.path ?? name;
      return [name, this.#unary(path.slice(1), handle)] as const;
    });
    return Object.fromEntries(methods);
  }

  #unary(method: string, handle: Handler) {
    return (call: UnaryCall, answer: sendUnaryData<unknown>): void => {
      const { clock } = this.#options;
      const startMs = clock.monotonicMs();
      const count = (code: status) => this.#count(method, code, clock.monotonicMs() - startMs);
      this.#bounded(() => handle(call.request, this.#callOptions(call))).then(
        (response) => {
          count(status.OK);
          answer(null, response);
        },
        (error) => {
          const callError = this.#callErrorOf(method, error);
          count(callError.code);
          answer({ code: callError.code, details: callError.message, metadata: metadataOf(callError) });
        },
      );
    };
  }

  async #bounded(run: () => Promise<unknown>): Promise<unknown> {
    if (this.#inFlight >= callsMax) throw overloadedCallError;
    this.#inFlight += 1;
    try {
      return await run();
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** gRPC answers DEADLINE_EXCEEDED by itself; this ends the work behind it. */
  #callOptions(call: UnaryCall): CallOptions {
    const deadline = Number(call.getDeadline());
    if (!Number.isFinite(deadline)) return {};
    const callerMs = Math.max(deadline - this.#options.clock.nowMs(), 0);
    return { deadlineMs: Math.min(callerMs, deadlineMaxMs), callerMs };
  }

  #callErrorOf(method: string, error: unknown): CallError {
    const known = callErrorOf(error);
    if (known !== undefined) return known;
    const { random, logger } = this.#options;
    const requestId = random.uuid();
    logger.error({ requestId, method, error: loggable(error) }, 'call failed unexpectedly');
    return unexpectedCallError(requestId);
  }
}

function metadataOf({ retryAfterMs }: CallError): Metadata {
  const metadata = new Metadata();
  if (retryAfterMs !== undefined) metadata.set('grpc-retry-pushback-ms', String(Math.ceil(retryAfterMs)));
  return metadata;
}

const secondsBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

/** Counts a call by the contract's name of its method, for example `scriptorium.v1.Cluster/ListNodes`. */
export function countCalls(registry: Registry): (method: string, code: status, durationMs: number) => void {
  const requests = meterOf(registry).counter(
    'scriptorium_grpc_requests_total',
    'Calls of the internal API by method and code',
    ['method', 'code'],
  );
  const seconds = new Histogram({
    name: 'scriptorium_grpc_request_duration_seconds',
    help: 'Calls of the internal API by method, from the first byte of the request to the answer',
    labelNames: ['method'],
    buckets: secondsBuckets,
    registers: [registry],
  });
  return (method, code, durationMs) => {
    requests.inc({ method, code: status[code] });
    seconds.observe({ method }, durationMs / 1_000);
  };
}
