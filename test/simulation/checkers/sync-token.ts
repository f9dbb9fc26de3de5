export interface TokenMark {
  readonly collection: string;
  readonly generation: string;
  readonly position: number;
}

/** Reads a sync token as the server makes it: one position of one generation for the user's own collection. */
export function positionOf(token: string): { readonly generation: string; readonly position: number } {
  const [, mark = ''] = Buffer.from(token, 'base64url').toString('latin1').split(':');
  const [, generation = '', position = '0'] = mark.split('.');
  return { generation, position: Number(position) };
}

/** All of its positions, those in vaults too. */
export function marksOf(token: string): readonly TokenMark[] {
  const [, ...marks] = Buffer.from(token, 'base64url').toString('latin1').split(':');
  return marks.map((mark) => {
    const [collection = '', generation = '', position = '0'] = mark.split('.');
    return { collection, generation, position: Number(position) };
  });
}

/** The membership of each vault that a token knows of, as it names it. */
export const membershipsIn = (token: string): ReadonlyMap<string, string> =>
  new Map(
    marksOf(token)
      .filter(({ generation }) => /_i[0-9a-z]+$/.test(generation))
      .map(({ collection, generation }) => [collection, generation]),
  );
