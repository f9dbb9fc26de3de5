/**
 * The migrations of the last release: a line for each, in their order, in `released.txt`. Empty until the first
 * release.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Migration } from '../../../runtime/migration.ts';

/** The digest covers what databases see, so that the source may be written differently. */
export const releasedLine = ({ id, sql }: Migration): string =>
  `${createHash('sha256')
    .update(JSON.stringify([id, sql.replace(/\s+/g, ' ').trim()]))
    .digest('hex')}  ${id}`;

export const releasedLines: readonly string[] = readFileSync(new URL('released.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '');
