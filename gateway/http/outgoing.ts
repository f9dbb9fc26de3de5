/** Turns a handler's answer, or a refusal, into the reply on the wire. */

import { setImmediate } from 'node:timers/promises';
import type { Caller } from '../../actors/reply.ts';
import { type HttpRefusal, refusalHeaders, refusalJson } from './refusal.ts';
import { htmlType, jsonType, type Outgoing, type OutgoingStream } from './responder.ts';
import type { AnyRoute, ReplyStream, RouteReply } from './route.ts';

const bytesType = 'application/octet-stream';

/** From this many bytes on, a reply is sent as its reader takes it. */
const longBytes = 128 * 1024;

/**
 * The envelope around every answer of an endpoint (docs/protocol/http.md, "The envelope"). It joins text around the
 * inner body, so that the body is serialised once, or not at all if it is JSON text already.
 */
export type Envelope = (innerJson: string, caller?: Caller) => string;

/** Clients store `filesServerUrl` as their files host, so every enveloped answer contains it. */
export function createEnvelope(filesServerUrl: string): Envelope {
  const afterAuth = `,"server":{"filesServerUrl":${JSON.stringify(filesServerUrl)}}},"data":`;
  const anonymous = `{"meta":{"auth":{}${afterAuth}`;
  // Roles come as one of a few arrays that never change, so the text of each is made once.
  const rolesTexts = new WeakMap<object, string>();

  function rolesText(caller: Caller): string {
    const known = rolesTexts.get(caller.roles);
    if (known !== undefined) return known;
    const text = `,"roles":${JSON.stringify(caller.roles)}}${afterAuth}`;
    rolesTexts.set(caller.roles, text);
    return text;
  }

  return (innerJson, caller) => {
    if (caller === undefined) return `${anonymous}${innerJson}}`;
    return `{"meta":{"auth":{"userUuid":${JSON.stringify(caller.userUuid)}${rolesText(caller)}${innerJson}}`;
  };
}

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

/** The fields of the body, both inside the envelope and beside it. */
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
  const isPlain = reply.withoutEnvelope || route?.enveloped === false;
  return isPlain ? json : envelope(json, reply.caller);
}

export function refusalReply(
  refusal: HttpRefusal,
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

function refusalText(refusal: HttpRefusal, envelope: Envelope): string {
  const json = refusalJson(refusal);
  return refusal.enveloped ? envelope(json) : json;
}

/** The length of a piece of text. Escapes make it at most six times as long. */
const pieceCharacters = 64 * 1024;

/**
 * Makes the JSON text of an object piece by piece on demand. A field may be a text of megabytes: however often it is sent, it is
 * in memory once. `begin` replaces the brace that opens the object.
 */
export function* jsonPieces(
  object: Readonly<Record<string, unknown>>,
  begin = '{',
): Generator<string, void, void> {
  let piece = begin;
  let comma = '';
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    piece += `${comma}${JSON.stringify(name)}:`;
    comma = ',';
    if (typeof value !== 'string' || value.length <= pieceCharacters) {
      piece += JSON.stringify(value);
      continue;
    }
    piece += '"';
    for (const part of partsOf(value)) {
      yield piece + JSON.stringify(part).slice(1, -1);
      piece = '';
    }
    piece += '"';
  }
  yield `${piece}}`;
}

/** No piece ends within a surrogate pair: its halves would be escaped. */
function* partsOf(text: string): Generator<string, void, void> {
  for (let from = 0; from < text.length; ) {
    const to = from + pieceCharacters;
    const end = isHighSurrogate(text.charCodeAt(to - 1)) ? to - 1 : to;
    yield text.slice(from, end);
    from = end;
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** After this many bytes from a source that never waits, the writer yields to the event loop. */
const turnBytes = 1024 * 1024;

/**
 * Opens the source when the first chunk is wanted. No chunk is empty, and together they are as long as declared.
 * `waits` hears when we start and stop waiting for the source.
 *
 * @throws TypeError before a reply of another length goes out
 */
export async function* chunksOf(
  { open, lengthBytes }: ReplyStream,
  waits: (isWaiting: boolean) => void,
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  let turnedAtBytes = 0;
  waits(true);
  for await (const chunk of open()) {
    if (chunk.byteLength === 0) continue;
    bytes += chunk.byteLength;
    if (lengthBytes !== undefined && bytes > lengthBytes)
      throw new TypeError('a reply is longer than it said');
    waits(false);
    yield chunk;
    waits(true);
    if (bytes - turnedAtBytes < turnBytes) continue;
    turnedAtBytes = bytes;
    await setImmediate();
  }
  waits(false);
  if (lengthBytes !== undefined && bytes < lengthBytes)
    throw new TypeError('a reply is shorter than it said');
}
