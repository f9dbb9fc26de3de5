/** Decides by the head of a request whether a body follows, and how it is received. */
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { BodyMemory } from './body.ts';
import { BodyStream } from './body-stream.ts';
import type { RequestHeaders } from './headers.ts';
import type { RawBody, Receiving, ReceivingLimits, ReceivingOptions, Recipient } from './receiving.ts';
import { refusals } from './refusal.ts';
import type { AnyRoute } from './route.ts';
import { StreamedBody } from './streamed-body.ts';
import type { HttpResponse } from './uws.ts';
import { WholeBody } from './whole-body.ts';

/** What the head of a request says. */
export interface Sender {
  /** In lower case. */
  readonly method: string;
  readonly route: AnyRoute;
  readonly credentials: Credentials | undefined;
  /** The client's address, as long as the connection has one. */
  readonly address: () => string;
}

/** Undefined if there is no body to wait for: the recipient has been notified. Otherwise the caller must start it. */
export function receive({
  res,
  headers,
  sender: { method, route, credentials, address },
  options,
  recipient,
}: {
  readonly res: HttpResponse;
  readonly headers: RequestHeaders;
  readonly sender: Sender;
  readonly options: ReceivingOptions;
  readonly recipient: Recipient;
}): Receiving | undefined {
  const declared = declaredBytes(headers, method);
  if (declared === undefined) {
    recipient.received({}, emptyBody(route, options.bodyMemory));
    return undefined;
  }
  const bytesMax = limitOf(route, options.limits);
  const refusal = declared === 'encoded' ? refusals.bodyEncoded : refusals.bodyTooLarge;
  if (declared === 'encoded' || declared > bytesMax) {
    recipient.refused(refusal);
    return undefined;
  }
  if (route.body === 'stream') {
    const user = credentials?.userUuid ?? route.streamOf?.((name) => headers.get(name));
    return new StreamedBody(res, { user, bytesMax }, options, recipient);
  }
  const head = { route, credentials, address, bytesMax, declaredBytes: declared };
  return new WholeBody(res, head, options, recipient);
}

/** The length of a body: 0 if the head does not say it, undefined if there is no body. */
function declaredBytes(headers: RequestHeaders, method: string): number | 'encoded' | undefined {
  if (method === 'get' || method === 'head') return undefined;
  const length = headers.get('content-length');
  if (length === '0') return undefined;
  if (length === '' && headers.get('transfer-encoding') === '') return undefined;
  const encoding = headers.get('content-encoding');
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
