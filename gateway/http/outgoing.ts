/** From what a handler answers, or a refusal says, to what goes out. */
import type { Envelope } from './envelope.ts';
import { type Refusal, refusalHeaders, refusalJson } from './refusal.ts';
import { jsonType, type Outgoing, type OutgoingStream } from './responder.ts';
import type { AnyRoute, ReplyStream, RouteReply } from './route.ts';

const bytesType = 'application/octet-stream';

/** What is no stream. */
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
  const { status, contentType = bytesType, headers, setCookies } = reply;
  return { status, contentType, lengthBytes, headers, setCookies, closes };
}

function bodyOf(reply: RouteReply, route: AnyRoute | undefined, envelope: Envelope): Outgoing['body'] {
  if (reply.bytes !== undefined) return reply.bytes;
  if (reply.contentType !== undefined) return String(reply.body ?? '');
  if (reply.json === undefined && reply.body === undefined) return undefined;
  const json = reply.json ?? JSON.stringify(reply.body);
  const isBare = reply.bare || route?.enveloped === false;
  if (isBare) return json;
  const enveloped = envelope(json, reply.caller);
  return reply.bothWays ? `${enveloped.slice(0, -1)},${json.slice(1)}` : enveloped;
}

export function refusalReply(refusal: Refusal, envelope: Envelope, closes: boolean): Outgoing {
  const json = refusalJson(refusal);
  return {
    status: refusal.status,
    contentType: jsonType,
    body: refusal.enveloped ? envelope(json) : json,
    headers: refusalHeaders(refusal),
    closes: refusal.closes || closes,
  };
}
