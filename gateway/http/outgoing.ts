/** Turns a handler's answer, or a refusal, into the reply on the wire. */
import type { Envelope } from './envelope.ts';
import { jsonPieces } from './long-json.ts';
import { type Refusal, refusalHeaders, refusalJson } from './refusal.ts';
import { htmlType, jsonType, type Outgoing, type OutgoingStream } from './responder.ts';
import type { AnyRoute, ReplyStream, RouteReply } from './route.ts';

const bytesType = 'application/octet-stream';

/** From this many bytes on, a reply is sent as its reader takes it. */
const longBytes = 128 * 1024;

/** Undefined: it is sent as a whole. */
export function streamOf(reply: RouteReply, envelope: Envelope): ReplyStream | undefined {
  if (!reply.duplicated) return reply.stream;
  const pieces = () => duplicated(reply, envelope);
  let lengthBytes = 0;
  for (const piece of pieces()) lengthBytes += Buffer.byteLength(piece);
  if (lengthBytes < longBytes) return undefined;
  return {
    lengthBytes,
    async *open() {
      for (const piece of pieces()) yield Buffer.from(piece);
    },
  };
}

/** Both in the envelope and beside it. */
function* duplicated({ body, caller }: RouteReply, envelope: Envelope): Generator<string, void, void> {
  const object = body as Readonly<Record<string, unknown>>;
  yield* jsonPieces(object, envelope('{', caller).slice(0, -1));
  yield* jsonPieces(object, ',');
}

/** Any body that is no stream. */
export function wholeReply(
  reply: RouteReply,
  route: AnyRoute | undefined,
  envelope: Envelope,
  closes: boolean,
): Outgoing {
  return {
    status: reply.status,
    contentType: reply.contentType ?? (reply.bytes === undefined ? jsonType : bytesType),
    body: bodyOf(reply, route, envelope),
    headers: reply.headers,
    setCookies: reply.setCookies,
    closes,
  };
}

export function streamedReply(
  reply: RouteReply,
  { lengthBytes }: ReplyStream,
  closes: boolean,
): OutgoingStream {
  const { status, headers, setCookies } = reply;
  const { contentType = reply.stream === undefined ? jsonType : bytesType } = reply;
  return { status, contentType, lengthBytes, headers, setCookies, closes };
}

function bodyOf(reply: RouteReply, route: AnyRoute | undefined, envelope: Envelope): Outgoing['body'] {
  if (reply.bytes !== undefined) return reply.bytes;
  if (reply.contentType !== undefined) return String(reply.body ?? '');
  if (reply.json === undefined && reply.body === undefined) return undefined;
  if (reply.duplicated) return [...duplicated(reply, envelope)].join('');
  const json = reply.json ?? JSON.stringify(reply.body);
  const isBare = reply.bare || route?.enveloped === false;
  return isBare ? json : envelope(json, reply.caller);
}

export function refusalReply(
  refusal: Refusal,
  route: AnyRoute | undefined,
  envelope: Envelope,
  closes: boolean,
): Outgoing {
  const page = route?.refusalPage?.(refusal.message);
  return {
    status: refusal.status,
    contentType: page === undefined ? jsonType : htmlType,
    body: page ?? refusalText(refusal, envelope),
    headers: refusalHeaders(refusal),
    closes: refusal.closes || closes,
  };
}

function refusalText(refusal: Refusal, envelope: Envelope): string {
  const json = refusalJson(refusal);
  return refusal.enveloped ? envelope(json) : json;
}
