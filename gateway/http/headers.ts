/** The headers of a request, and the check that they frame it in one way only. */
import type { HttpRequest, HttpResponse } from './uws.ts';

/**
 * All headers of a request, copied when it arrives, because the request is gone after the first await. Asking the library for a
 * header also costs more than keeping it.
 */
export interface RequestHeaders {
  /** Empty if there is none. Of several lines the first counts. Those of `x-forwarded-for` are joined in their order. */
  get(name: string): string;
}

/**
 * A proxy may add a line of its own instead of extending the client's line, which anyone could have typed. An empty
 * line never gets this far (see `unambiguousHeaders`).
 */
const joined = 'x-forwarded-for';

export class CopiedHeaders implements RequestHeaders {
  readonly #values = new Map<string, string>();

  /** `name` in lower case. */
  add(name: string, value: string): void {
    const earlier = this.#values.get(name);
    if (earlier === undefined) this.#values.set(name, value);
    else if (name === joined) this.#values.set(name, `${earlier},${value}`);
  }

  get(name: string): string {
    return this.#values.get(name) ?? '';
  }
}

// --- framing ---------------------------------------------------------------------------------------------------

/**
 * Checks that every reader finds the same beginning and end of a request. If a proxy in front of this server finds
 * another end, its clients can hide requests in the bodies of others.
 *
 * The library takes the first of several lengths, and takes any coding to mean chunks. So this code checks both before anything
 * else, in all headers as they came. An ambiguous request gets no answer, because the answer could reach another client. The
 * library reads nothing more from a connection that its handler closes.
 *
 * The library also takes the trailers behind a body in chunks for another request. So the reply to such a body announces the end
 * of its connection, and nothing with chunks becomes a socket.
 */
export class Framing {
  /** Connections closed because of ambiguous framing. */
  refused = 0;

  /** Undefined: the connection is closed, and neither argument may be touched any more. */
  headersOf(res: Pick<HttpResponse, 'close'>, req: Pick<HttpRequest, 'forEach'>): RequestHeaders | undefined {
    const headers = unambiguousHeaders(req);
    if (headers !== undefined) return headers;
    this.refused += 1;
    res.close();
    return undefined;
  }
}

/** Whether the body comes in chunks, so that no other request may follow it. */
export const isChunked = (headers: RequestHeaders): boolean => headers.get('transfer-encoding') !== '';

function unambiguousHeaders(req: Pick<HttpRequest, 'forEach'>): RequestHeaders | undefined {
  const headers = new CopiedHeaders();
  let framings = 0;
  let isOdd = false;
  let hasChunks = false;
  let isUpgrade = false;
  req.forEach((name, value) => {
    headers.add(name, value);
    if (name === 'content-length') {
      framings += 1;
      isOdd ||= value === '';
    } else if (name === 'transfer-encoding') {
      framings += 1;
      hasChunks = true;
      isOdd ||= value.toLowerCase() !== 'chunked';
    } else if (name === 'sec-websocket-key') {
      isUpgrade = true;
    } else if (name === 'x-forwarded-for' && value === '') {
      // This header would hide the lines after it. No proxy sends it.
      isOdd = true;
    }
  });
  isOdd ||= hasChunks && isUpgrade;
  return isOdd || framings > 1 ? undefined : headers;
}
