/**
 * Sync and cursor tokens (docs/protocol/sync.md, "Tokens"). A token has for each collection the position up to which the client
 * has its changes, and the generation of that position. Opaque to clients.
 *
 * A generation names one run of positions on this server. It is random, and new with the database and with each restore of
 * a backup (docs/operations.md). After a restore the same positions stand for other changes than those a client has seen.
 *
 * A client repeats a rejected token forever, so no token is an error. A token counts as position 0 *with* tombstones if it is
 * unreadable, ahead of the head, or of another server, collection or generation. The client may hold items that were deleted
 * since. Only a missing token is a first sync, without tombstones.
 */
import { dashed } from '../identity/uuid-text.ts';
import type { Head } from './head.ts';

/** How far a client has seen one collection. */
export interface Cursor {
  readonly collection: string;
  readonly generation: string;
  readonly position: number;
}

/** The position after which a sync begins; `first` when the client has nothing yet. */
export interface Start {
  readonly after: number;
  readonly first: boolean;
}

const format = '4';
/** More than two cursors for each vault that an account may be in, and its own. */
const cursorsMax = 2_000;
const tokenLengthMax = 128 * 1024;
/** An empty collection is that of the previous cursor; a generation after a tilde continues the first cursor's. */
const cursorPattern = /^([\w-]{22})?\.(~)?([\w-]{0,32})\.(\d{1,16})$/;

/** A user in a hundred vaults sends the token with each sync, so the encoding repeats nothing. */
export function encodeToken(cursors: readonly Cursor[]): string {
  const parts = cursors.map(({ collection, generation, position }, index) => {
    // An index of -1 would be looked up as a name.
    const before = index === 0 ? undefined : cursors[index - 1];
    const of = before?.collection === collection ? '' : shortOf(collection);
    const first = before && cursors[0]?.generation;
    const isLonger = first !== undefined && generation.startsWith(first);
    return `${of}.${isLonger ? `~${generation.slice(first.length)}` : generation}.${position}`;
  });
  return Buffer.from([format, ...parts].join(':'), 'latin1').toString('base64url');
}

const shortMax = 4_096;
/** A cache of the short forms of collections. */
const shortForms = new Map<string, string>();

function shortOf(uuid: string): string {
  const known = shortForms.get(uuid);
  if (known !== undefined) return known;
  const short = Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url');
  if (shortForms.size >= shortMax) shortForms.clear();
  shortForms.set(uuid, short);
  return short;
}

const uuidOf = (short: string): string => dashed(Buffer.from(short, 'base64url').toString('hex'));

/** Nearly every sync starts and ends at the head, so the token of the head is made once. */
const tokensAtHeads = new WeakMap<Head, string>();
const givenMax = 4_096;
/** A cache of the cursors of recently issued tokens. Most clients send back the last one. */
const given = new Map<string, readonly Cursor[]>();

/** The token of this position in one collection. */
export function tokenAt(collection: string, generation: string, head: Head, position: number): string {
  // The heads of all collections without saves are equal.
  const isAtHead = position === head.position && position > 0;
  const known = isAtHead ? tokensAtHeads.get(head) : undefined;
  if (known !== undefined) return known;
  const cursors = [{ collection, generation, position }];
  const token = encodeToken(cursors);
  if (!isAtHead) return token;
  tokensAtHeads.set(head, token);
  if (given.size >= givenMax) given.clear();
  given.set(token, cursors);
  return token;
}

/** One sync asks several times in a row for the cursors of its token. */
let lastDecoded: { readonly token: string; readonly cursors: readonly Cursor[] | undefined } | undefined;

/** The cursors of a token of this server; undefined for any other text. */
export function decodeToken(token: string): readonly Cursor[] | undefined {
  const known = given.get(token);
  if (known !== undefined) return known;
  if (lastDecoded?.token !== token) lastDecoded = { token, cursors: decoded(token) };
  return lastDecoded.cursors;
}

function decoded(token: string): readonly Cursor[] | undefined {
  if (token.length > tokenLengthMax) return undefined;
  const [version, ...parts] = Buffer.from(token, 'base64url').toString('latin1').split(':');
  if (version !== format || parts.length > cursorsMax) return undefined;
  const cursors: Cursor[] = [];
  for (const part of parts) {
    const cursor = decodeCursor(part, cursors);
    if (cursor === undefined) return undefined;
    cursors.push(cursor);
  }
  return cursors;
}

function decodeCursor(part: string, before: readonly Cursor[]): Cursor | undefined {
  const match = cursorPattern.exec(part);
  if (match === null) return undefined;
  const [, short, tilde, rest = '', digits = ''] = match;
  const collection = short === undefined ? before.at(-1)?.collection : uuidOf(short);
  const begin = tilde === undefined ? '' : before[0]?.generation;
  const position = Number(digits);
  if (collection === undefined || begin === undefined || !Number.isSafeInteger(position)) return undefined;
  return { collection, generation: begin + rest, position };
}

/** The position of a token in a collection and generation. Undefined where the token has none. */
export function positionsOf(token: string): (collection: string, generation: string) => number | undefined {
  const positions = new Map(
    decodeToken(token)?.map((each) => [`${each.collection} ${each.generation}`, each.position]),
  );
  return (collection, generation) => positions.get(`${collection} ${generation}`);
}

/** `token`, but in no collection and generation beyond the position of `limit` there. */
export function notBeyond(token: string, limit: string): string {
  const cursors = decodeToken(token) ?? [];
  const limitAt = positionsOf(limit);
  const limited = cursors.map((cursor) => {
    const most = limitAt(cursor.collection, cursor.generation) ?? cursor.position;
    return most < cursor.position ? { ...cursor, position: most } : cursor;
  });
  return limited.every((cursor, index) => cursor === cursors[index]) ? token : encodeToken(limited);
}

/** Where a sync of `collection` with these tokens begins. A cursor wins over a sync token. */
export function startOf(
  tokens: { readonly sync: string | null | undefined; readonly cursor: string | null | undefined },
  collection: string,
  generation: string,
  head: Head,
): Start {
  const token = tokens.cursor || tokens.sync;
  if (!token) return { after: 0, first: true };
  if (token === tokenAt(collection, generation, head, head.position))
    return { after: head.position, first: false };
  const cursor = decodeToken(token)?.find((candidate) => candidate.collection === collection);
  const known = cursor !== undefined && cursor.generation === generation && cursor.position <= head.position;
  return { after: known ? cursor.position : 0, first: false };
}
