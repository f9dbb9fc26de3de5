/**
 * One device's connection to the server. It prefers one gateway and turns to the next when that fails. It repeats a
 * request without a verdict, like clients that keep an item dirty until it is saved.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../kit/random.ts';
import type { FailureReason, Tally } from './tally.ts';

export interface Answer {
  readonly status: number;
  /** The data of the envelope, or the whole body if there is none; undefined if it is not JSON. */
  readonly body: unknown;
  readonly bytes: Buffer;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** JSON, or bytes unchanged. */
  readonly body?: object;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** 429 is a verdict: the client does not repeat a request that is too much now. */
  readonly takesTooMany?: boolean;
}

export interface ClientOptions {
  /** The kind of caller, for reports. */
  readonly who: string;
  /** Addresses of the gateways, dead or alive. */
  readonly gateways: readonly string[];
  readonly preferred: number;
  readonly random: SeededRandom;
  readonly tally: Tally;
  /** For one attempt. If `timeoutMaxMs` is set, the time doubles after each attempt without an answer, up to that. */
  readonly timeoutMs: number;
  readonly timeoutMaxMs?: number;
  /** The longest wait before an attempt is repeated. */
  readonly pauseMaxMs: number;
  /** Whether the run has given up: nothing is sent again then. */
  readonly isOver: () => boolean;
}

/** The failure of one attempt. */
interface Failure {
  readonly reason: FailureReason;
  /** Why the request failed, if there was no answer. */
  readonly why?: string;
}

/** The run gave up before there was an answer. */
export class UnansweredError extends Error {}

const pauseMinMs = 50;

/** What the clients of one run share. */
type RunOptions = Pick<ClientOptions, 'gateways' | 'tally' | 'timeoutMs' | 'timeoutMaxMs'>;

/** A client of a run. It begins at any gateway. */
export function openClient(
  who: string,
  random: SeededRandom,
  { gateways, tally, timeoutMs, timeoutMaxMs = timeoutMs }: RunOptions,
  isOver: () => boolean,
): Client {
  const preferred = random.below(1_000);
  return new Client({ who, gateways, preferred, random, tally, timeoutMs, timeoutMaxMs, pauseMaxMs, isOver });
}

/** The longest wait before an attempt is repeated. */
const pauseMaxMs = 1_000;

export class Client {
  readonly #options: ClientOptions;
  #gateway: number;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#gateway = options.preferred;
  }

  /** Resolves to the deciding answer; `again` is called before each repeat. @throws UnansweredError */
  async call(request: Request, again: (reason: FailureReason) => void = () => {}): Promise<Answer> {
    const { who, tally, random, isOver, pauseMaxMs, timeoutMs, timeoutMaxMs = timeoutMs } = this.#options;
    const atMs = performance.now();
    const failures: FailureReason[] = [];
    let why = '';
    const open = { who, what: whatOf(request), atMs };
    tally.open.add(open);
    for (;;) {
      const unanswered = failures.filter((reason) => reason === 'no-answer').length;
      const outcome = await this.#attempt(request, Math.min(timeoutMs * 2 ** unanswered, timeoutMaxMs));
      if (!('reason' in outcome)) {
        tally.open.delete(open);
        tally.calls.push({ ...open, durationMs: performance.now() - atMs, failures });
        return outcome;
      }
      const { reason } = outcome;
      failures.push(reason);
      why = outcome.why ?? why;
      if (isOver()) {
        const seconds = Math.round((performance.now() - atMs) / 1_000);
        const times = `${failures.length} times`;
        throw new UnansweredError(
          `${who}, ${open.what}: ${reason} for ${seconds} s, ${times}${why && ` (${why})`}`,
        );
      }
      this.#gateway += 1;
      await pause(Math.min(pauseMaxMs, pauseMinMs * 2 ** (failures.length - 1)) * (0.5 + random.fraction()));
      again(reason);
    }
  }

  /** Undefined: its current gateway gave no verdict. The next call turns to another. */
  async once(request: Request): Promise<Answer | undefined> {
    const outcome = await this.#attempt(request, this.#options.timeoutMs);
    if (!('reason' in outcome)) return outcome;
    this.#gateway += 1;
    return undefined;
  }

  /** Its current gateway. */
  get gateway(): string {
    const { gateways } = this.#options;
    return gateways[this.#gateway % gateways.length] ?? '';
  }

  async #attempt(
    { method, path, body, token, headers: more, takesTooMany = false }: Request,
    timeoutMs: number,
  ): Promise<Answer | Failure> {
    const isBinary = body instanceof Uint8Array;
    const headers: Record<string, string> = {
      'content-type': isBinary ? 'application/octet-stream' : 'application/json',
      'x-snjs-version': '2.211.1',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...more,
    };
    try {
      const response = await fetch(this.gateway + path, {
        method,
        headers,
        signal: AbortSignal.timeout(timeoutMs),
        ...(body !== undefined && { body: isBinary ? body : JSON.stringify(body) }),
      } as RequestInit);
      const bytes = Buffer.from(await response.arrayBuffer());
      if (response.status === 429 && !takesTooMany) return { reason: 'too-many' };
      if (response.status > 500 && response.status < 505) return { reason: 'not-now' };
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      const parsed = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
      return { status: response.status, body: parsed?.data ?? parsed, bytes };
    } catch (error) {
      return { reason: isRefusal(error) ? 'not-reached' : 'no-answer', why: whyOf(error) };
    }
  }
}

const whyOf = (error: unknown): string => String((error as { cause?: unknown }).cause ?? error);

function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
  return cause?.code === 'ECONNREFUSED';
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const whatOf = ({ method, path }: Request): string => `${method} ${path.replace(uuid, ':uuid')}`;
