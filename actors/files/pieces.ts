/**
 * Regroups a body into pieces of at least `pieceBytes`; only the last may be smaller. A large piece is passed on uncopied if no
 * smaller one is waiting. A piece is valid until the next one is asked for, because its buffer is reused.
 */
export async function* largePieces(
  body: AsyncIterable<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  let joined: Buffer | undefined;
  let bytes = 0;
  for await (const piece of body) {
    let rest = piece;
    while (rest.byteLength > 0) {
      if (bytes === 0 && rest.byteLength >= pieceBytes) {
        yield rest;
        break;
      }
      joined ??= Buffer.allocUnsafeSlow(pieceBytes);
      const part = rest.subarray(0, pieceBytes - bytes);
      joined.set(part, bytes);
      bytes += part.byteLength;
      rest = rest.subarray(part.byteLength);
      if (bytes < pieceBytes) continue;
      yield joined;
      bytes = 0;
    }
  }
  if (joined !== undefined && bytes > 0) yield joined.subarray(0, bytes);
}
