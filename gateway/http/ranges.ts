/**
 * One range of bytes: reading `Range`, and the reply that honours it (RFC 9110, section 14). Several ranges in one
 * request are refused like a malformed one, since no client of this server asks for them.
 */
import type { MediaBody, ReplyStream, RouteReply } from './route.ts';

/** Positions of the first and the last byte, both included. */
export interface InclusiveRange {
  readonly first: number;
  readonly last: number;
}

const rangePattern = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/i;
const otherUnitPattern = /^(?!bytes=)[!#$%&'*+.^_`|~\w-]+=/i;

/**
 * Which part of `sizeBytes` the client asks for. `whole`: there is no range, or its unit is not ours and must be
 * ignored. `unsatisfiable`: it begins behind the end.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): InclusiveRange | 'whole' | 'unsatisfiable' | 'malformed' {
  if (header === undefined || otherUnitPattern.test(header)) return 'whole';
  const match = rangePattern.exec(header);
  if (match === null) return 'malformed';
  const [, firstText, lastText, suffixText] = match;
  if (suffixText !== undefined) {
    const bytes = Math.min(Number(suffixText), sizeBytes);
    return bytes === 0 ? 'unsatisfiable' : { first: sizeBytes - bytes, last: sizeBytes - 1 };
  }
  const first = Number(firstText);
  const last = lastText === undefined ? Number.POSITIVE_INFINITY : Number(lastText);
  if (last < first) return 'malformed';
  return first >= sizeBytes ? 'unsatisfiable' : { first, last: Math.min(last, sizeBytes - 1) };
}

export interface RangedBody extends MediaBody {
  readonly sizeBytes: number;
  /** The bytes of a range, which is never empty. */
  readonly open: (range: InclusiveRange) => ReturnType<ReplyStream['open']>;
  /**
   * No range reply is longer than this. Its headers say what the client got, and the client asks again for the rest.
   */
  readonly partBytesMax?: number;
}

/** 200, 206, 416, or 400 for a header that is no single range. `range` is the header of that name. */
export function rangedReply(range: string | undefined, body: RangedBody): RouteReply {
  const { sizeBytes, open, mediaType, partBytesMax = Number.POSITIVE_INFINITY } = body;
  const part = parseRange(range, sizeBytes);
  if (part === 'malformed') return refused(400, 'The range of the request is not valid.', {});
  if (part === 'unsatisfiable') {
    return refused(416, 'The range of the request lies behind the end.', {
      'Content-Range': `bytes */${sizeBytes}`,
    });
  }
  if (part === 'whole') {
    return sent({
      status: 200,
      contentType: mediaType,
      lengthBytes: sizeBytes,
      open: () => open({ first: 0, last: sizeBytes - 1 }),
      headers: {},
    });
  }
  const { first } = part;
  const last = Math.min(part.last, first + partBytesMax - 1);
  return sent({
    status: 206,
    contentType: mediaType,
    lengthBytes: last - first + 1,
    open: () => open({ first, last }),
    headers: {
      'Content-Range': `bytes ${first}-${last}/${sizeBytes}`,
    },
  });
}

type HeaderValues = NonNullable<RouteReply['headers']>;

function refused(status: number, message: string, headers: HeaderValues): RouteReply {
  return { status, body: { error: { message } }, headers: { 'Accept-Ranges': 'bytes', ...headers } };
}

function sent({
  status,
  contentType,
  lengthBytes,
  open,
  headers,
}: {
  readonly status: number;
  readonly contentType: string;
  readonly lengthBytes: number;
  readonly open: ReplyStream['open'];
  readonly headers: HeaderValues;
}): RouteReply {
  return {
    status,
    contentType,
    headers: { 'Accept-Ranges': 'bytes', ...headers },
    ...(lengthBytes === 0 ? { body: '' } : { stream: { open, lengthBytes } }),
  };
}
