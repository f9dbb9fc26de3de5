/**
 * The phase of an actor in an import:
 *
 *     none     it was made on this server, or not at all
 *     closed   the import writes it, and nobody can sign in
 *     open     its password on the other server signs in; another pass closes it again
 *     used     its user has signed in. The import writes nothing any more
 *
 * A vault has no password, so it stays `closed`. Only its members can use it, once their own accounts are open.
 */
import { z } from 'zod';
import type { View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { refuse } from '../reply.ts';

export const importPhases = ['none', 'closed', 'open', 'used'] as const;

export interface ImportState {
  readonly phase: (typeof importPhases)[number];
  /** The hash from the other server, until the account is opened. */
  readonly passwordHash: string;
  /** An operator has to open it, as its second factor is missing. */
  readonly locked: boolean;
}

export const importSlice = slice<ImportState>({
  name: 'import',
  schema: z.object({ phase: z.enum(importPhases), passwordHash: z.string(), locked: z.boolean() }),
  initial: { phase: 'none', passwordHash: '', locked: false },
});

export const notWritable = refuse.conflict('An import does not write this: it was made here, or is in use.');

export const isWritable = (view: View): boolean => view.get(importSlice).phase === 'closed';
