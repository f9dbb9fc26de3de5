/**
 * What an import has made of an actor:
 *
 *     none     nothing; it was made here, or not at all
 *     closed   it is being written, and nobody can sign in
 *     open     its password, as it was elsewhere, signs in; another pass closes it again
 *     used     somebody has signed in. Nothing is written any more
 *
 * A vault has no password, so it stays `closed`: those who could use it are its members.
 */
import { z } from 'zod';
import type { View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { refuse } from '../reply.ts';

export const importPhases = ['none', 'closed', 'open', 'used'] as const;

export interface ImportStanding {
  readonly phase: (typeof importPhases)[number];
  /** While it waits to be the account's own. */
  readonly passwordHash: string;
  /** An operator has to open it, as its second factor is missing. */
  readonly locked: boolean;
}

export const importSlice = slice<ImportStanding>({
  name: 'import',
  format: 1,
  schema: z.object({ phase: z.enum(importPhases), passwordHash: z.string(), locked: z.boolean() }),
  initial: { phase: 'none', passwordHash: '', locked: false },
});

export const notWritable = refuse.conflict('An import does not write this: it was made here, or is in use.');

export const isWritable = (view: View): boolean => view.get(importSlice).phase === 'closed';
