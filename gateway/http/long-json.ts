/**
 * Makes the JSON text of an object piece by piece on demand. Some field may be a text of megabytes: however often it
 * is sent, it is in memory once.
 */

/** The length of a piece of text. Escapes make it at most six times as long. */
const pieceCharacters = 64 * 1024;

/** `begin` replaces the brace that opens the object. */
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
