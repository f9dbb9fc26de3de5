import fc from 'fast-check';

/** One character lost, added, replaced, or everything from one on cut off. */
export const damage = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('cut', 'lost', 'doubled', 'replaced', 'flipped', 'inserted'),
  character: fc.constantFrom(...'AZaz09-_.:=+/%'),
});

export function damaged(
  token: string,
  { at, kind, character }: { at: number; kind: string; character: string },
): string {
  const index = at % token.length;
  const [before, own, after] = [token.slice(0, index), token[index] ?? '', token.slice(index + 1)];
  if (kind === 'cut') return before;
  if (kind === 'lost') return before + after;
  if (kind === 'doubled') return before + own + own + after;
  if (kind === 'replaced') return before + character + after;
  if (kind === 'inserted') return before + character + own + after;
  return before + String.fromCharCode(own.charCodeAt(0) ^ 1) + after;
}
