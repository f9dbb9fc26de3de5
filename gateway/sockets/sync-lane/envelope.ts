/**
 * The frames of the sync lane (docs/protocol/sockets.md, "Frames of the lane"): one JSON object for each text frame,
 * with exactly these keys.
 *
 * `payloadLength` counts the UTF-8 bytes of the payload after parsing and serialising it again, on both sides. So it
 * depends neither on white space nor on the order in which the client sent integer-like keys.
 *
 * A frame that breaks these rules ends its socket, because the client and the server would not agree on what follows.
 */
import { equalInConstantTime } from '../../../actors/identity/session-tokens.ts';
import { commandDigestOf, digestPattern } from './digest.ts';

export const laneFrameBytesMax = 524_288;
export const sequenceMax = 2 ** 32 - 2;
/** An item nests a few levels. Deeper nesting would overflow the stack of the serialiser. */
const depthMax = 64;
/**
 * Keys of one object. An item has some twenty. Tens of thousands in one object take the longest to sort for the
 * digest.
 */
const membersMax = 1_024;
/**
 * Commas and opening brackets of a frame: 3,000 items' worth. A frame is parsed in one piece, and many small values
 * take the longest. Empty lists in lists have no comma between them.
 */
export const valuesMax = 40_000;

export const clientFrameTypes = [
  'AUTH',
  'REAUTH',
  'PING',
  'COMMAND',
  'STATUS',
  'COLLABORATION_AUTHORIZE',
  'RPC_REQUEST',
  'RPC_CANCEL',
  'RPC_CREDIT',
  'INVITE_SUBSCRIBE',
  'INVITE_ACK',
  'FILES_METADATA',
  'FILES_UPLOAD_OPEN',
  'FILES_UPLOAD_FINISH',
  'FILES_DOWNLOAD_OPEN',
  'FILES_CREDIT',
  'FILES_CANCEL',
] as const;
export type ClientFrameType = (typeof clientFrameTypes)[number];

export const serverFrameTypes = [
  'AUTHENTICATED',
  'REAUTHENTICATED',
  'PONG',
  'ACCEPTED',
  'COMMITTED',
  'STATUS',
  'ERROR',
] as const;
export type ServerFrameType = (typeof serverFrameTypes)[number];

export interface ClientFrame {
  readonly type: ClientFrameType;
  readonly requestId: string;
  readonly commandId: string;
  readonly sequence: number;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Only in COMMAND and STATUS. */
  readonly digest?: string;
}

export type FrameFault =
  | ('MALFORMED_JSON' | 'INVALID_ENVELOPE' | 'UNSUPPORTED_VERSION' | 'INVALID_SEQUENCE')
  | ('INVALID_PAYLOAD_LENGTH' | 'INVALID_DIGEST');

export const identifierPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

const types: ReadonlySet<unknown> = new Set(clientFrameTypes);
const keys: readonly string[] = [
  'version',
  'channel',
  'type',
  'requestId',
  'commandId',
  'sequence',
  'payloadLength',
  'payload',
];
const allKeys: ReadonlySet<string> = new Set([...keys, 'digest']);

type FrameFields = Readonly<Record<string, unknown>>;

/** Parses a frame, or says what is wrong with the text. */
export function readFrame(text: string): ClientFrame | FrameFault {
  if (hasTooManyValues(text)) return 'INVALID_ENVELOPE';
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'MALFORMED_JSON';
  }
  if (!isObject(parsed)) return 'INVALID_ENVELOPE';
  return faultOf(parsed) ?? frameOf(parsed);
}

function faultOf(fields: FrameFields): FrameFault | undefined {
  if (!keys.every((key) => Object.hasOwn(fields, key))) return 'INVALID_ENVELOPE';
  if (!Object.keys(fields).every((key) => allKeys.has(key))) return 'INVALID_ENVELOPE';
  const { version, channel, type, sequence, payload, payloadLength } = fields;
  if (version !== 1) return typeof version === 'number' ? 'UNSUPPORTED_VERSION' : 'INVALID_ENVELOPE';
  if (channel !== 'sync' || !types.has(type)) return 'INVALID_ENVELOPE';
  if (!isIdentifier(fields['requestId']) || !isIdentifier(fields['commandId'])) return 'INVALID_ENVELOPE';
  if (!isObject(payload) || !isSimple(payload, depthMax)) return 'INVALID_ENVELOPE';
  if (!isSequence(sequence)) return 'INVALID_SEQUENCE';
  if (payloadLength !== jsonBytes(payload)) return 'INVALID_PAYLOAD_LENGTH';
  return hasDigest(type)
    ? faultOfDigest(fields)
    : Object.hasOwn(fields, 'digest')
      ? 'INVALID_DIGEST'
      : undefined;
}

function faultOfDigest({ digest, type, payload }: FrameFields): FrameFault | undefined {
  if (typeof digest !== 'string' || !digestPattern.test(digest)) return 'INVALID_DIGEST';
  if (type !== 'COMMAND') return undefined;
  return equalInConstantTime(digest, commandDigestOf((payload as FrameFields)['body'] ?? null))
    ? undefined
    : 'INVALID_DIGEST';
}

function frameOf(fields: FrameFields): ClientFrame {
  const { type, requestId, commandId, sequence, payload, digest } = fields as unknown as ClientFrame;
  return { type, requestId, commandId, sequence, payload, ...(digest !== undefined && { digest }) };
}

/** A frame of the server. `payload` is JSON from `JSON.stringify`. No character of an identifier needs an escape. */
export interface ServerFrame {
  readonly type: ServerFrameType;
  readonly requestId: string;
  readonly commandId: string;
  readonly sequence: number;
  readonly payload: string;
  readonly digest?: string | undefined;
}

export function writeFrame({ type, requestId, commandId, sequence, payload, digest }: ServerFrame): string {
  const ids = `"requestId":"${requestId}","commandId":"${commandId}"`;
  const length = Buffer.byteLength(payload);
  const signed = digest === undefined ? '' : `,"digest":"${digest}"`;
  return `{"version":1,"channel":"sync","type":"${type}",${ids},"sequence":${sequence},"payloadLength":${length}${signed},"payload":${payload}}`;
}

/** Ids of requests, commands and devices. */
export const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' && identifierPattern.test(value);

export const isObject = (value: unknown): value is FrameFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasDigest = (type: unknown): boolean => type === 'COMMAND' || type === 'STATUS';

const isSequence = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= sequenceMax;

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const comma = 44;
const openBracket = 91;
const openBrace = 123;
const quote = 34;
const backslash = 92;

/** Skips strings, which are most of a frame. A short text, such as every `PING`, cannot have too many. */
function hasTooManyValues(text: string): boolean {
  if (text.length <= valuesMax) return false;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma || code === openBracket || code === openBrace) values += 1;
  }
  return values > valuesMax;
}

/** The index of the closing quotation mark, or the end of a text without one. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

function isSimple(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const values = Object.values(value);
  if (!Array.isArray(value) && values.length > membersMax) return false;
  return levels > 0 && values.every((each) => isSimple(each, levels - 1));
}
