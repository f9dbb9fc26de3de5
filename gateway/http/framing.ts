/**
 * Checks that every reader finds the same beginning and end of a request. If a proxy in front of this server finds
 * another end, its clients can hide requests in the bodies of others.
 *
 * The library takes the first of several lengths, and takes any coding to mean chunks. So this code checks both before anything
 * else, in all headers as they came. An ambiguous request gets no answer, because the answer could reach another client. The
 * library reads nothing more from a connection that its handler closes.
 *
 * The library also takes the trailers behind a body in chunks for another request. So the answer to such a body is the last of its
 * connection (responder.ts), and nothing with chunks becomes a socket.
 */
import { CopiedHeaders, type RequestHeaders } from './headers.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

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
      // It would hide the lines after it (headers.ts), and no proxy sends it.
      isOdd = true;
    }
  });
  return isOdd || framings > 1 || (hasChunks && isUpgrade) ? undefined : headers;
}
