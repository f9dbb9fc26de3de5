/**
 * Whether a request has one beginning and one end, whoever reads it. A proxy before this server that finds another end
 * than this server does lets its clients hide requests in the bodies of others.
 *
 * The library takes the first of several lengths and any coding for chunks, so that both are looked for here, among
 * all headers as they came, before anything else is. What is ambiguous gets no answer: nobody knows where an answer
 * would belong. The library reads nothing more of a connection closed in its handler.
 */
import type { HttpRequest, HttpResponse } from './uws.ts';

export class Framing {
  /** Connections closed for it. */
  refused = 0;

  /** False: the connection is closed, and neither argument must be touched any more. */
  admits(res: Pick<HttpResponse, 'close'>, req: Pick<HttpRequest, 'forEach'>): boolean {
    if (!isAmbiguous(req)) return true;
    this.refused += 1;
    res.close();
    return false;
  }
}

function isAmbiguous(req: Pick<HttpRequest, 'forEach'>): boolean {
  let framings = 0;
  let isOdd = false;
  req.forEach((name, value) => {
    if (name === 'content-length') {
      framings += 1;
      isOdd ||= value === '';
    } else if (name === 'transfer-encoding') {
      framings += 1;
      isOdd ||= value.toLowerCase() !== 'chunked';
    } else if (name === 'x-forwarded-for' && value === '') {
      // It would hide the lines after it (gateway/admission/client-address.ts), and no proxy sends it.
      isOdd = true;
    }
  });
  return isOdd || framings > 1;
}
