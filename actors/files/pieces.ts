/** A body in pieces of so many bytes at least but for the last, each worth a call of its own. */
export async function* largePieces(
  body: AsyncIterable<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    waiting.push(piece);
    bytes += piece.byteLength;
    if (bytes < pieceBytes) continue;
    yield joined(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield joined(waiting);
}

const joined = (pieces: readonly Uint8Array[]): Uint8Array =>
  pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
