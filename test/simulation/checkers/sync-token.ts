import { dashed } from '../../../actors/identity/uuid-text.ts';

export interface TokenCursor {
  readonly collection: string;
  readonly generation: string;
  readonly position: number;
}

/** Reads a sync token in the server's format: one position of one generation for the user's own collection. */
export function positionOf(token: string): Pick<TokenCursor, 'generation' | 'position'> {
  const [own] = cursorsOf(token);
  return { generation: own?.generation ?? '', position: own?.position ?? 0 };
}

/**
 * All of its positions, including those in vaults. A position that a cursor leaves out equals the previous one, or the
 * start for the first.
 */
function cursorsOf(token: string): readonly TokenCursor[] {
  const [, ...parts] = Buffer.from(token, 'base64url').toString('latin1').split(':');
  const cursors: TokenCursor[] = [];
  for (const part of parts) {
    const [short = '', named = '', position = '0'] = part.split('.');
    const collection = short === '' ? (cursors.at(-1)?.collection ?? '') : uuidOf(short);
    const generation = named.replace('~', cursors[0]?.generation ?? '');
    cursors.push({ collection, generation, position: Number(position) });
  }
  return cursors;
}

const uuidOf = (short: string): string => dashed(Buffer.from(short, 'base64url').toString('hex'));

/** The membership of each vault that a token knows, as the token names it. */
export const membershipsIn = (token: string): ReadonlyMap<string, string> =>
  new Map(
    cursorsOf(token)
      .filter(({ generation }) => /_i[0-9a-z]+$/.test(generation))
      .map(({ collection, generation }) => [collection, generation]),
  );
