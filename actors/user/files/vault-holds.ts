/** What uploads in the shared vaults of a user hold of the user's quota (see vault-bytes.ts). */
import { z } from 'zod';
import type { View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';

/** The most of all vaults of an owner. Each vault has fewer. */
export const holdsMax = 500;

/** By the uuid of the upload, or of what moves. */
export const vaultHoldMap = sliceMap<{
  readonly bytes: number;
  readonly endsAtMs: number;
  /** The member who began the upload. */
  readonly by?: string | undefined;
}>({
  family: 'vault-file-hold',
  format: 1,
  entriesMax: holdsMax,
  schema: z.object({ bytes: z.number(), endsAtMs: z.number(), by: z.string().optional() }),
});

type Now = View & { readonly nowMs: number };

export function heldForVault(view: Now, uuid: string): number {
  const hold = view.entry(vaultHoldMap, uuid);
  return hold !== undefined && view.nowMs < hold.endsAtMs ? hold.bytes : 0;
}

/** What those of one member hold that last, but for these. */
export function heldFor(view: Now, by: string, but: readonly (string | undefined)[]): readonly number[] {
  return [...view.entries(vaultHoldMap)]
    .filter(([uuid, hold]) => hold.by === by && view.nowMs < hold.endsAtMs && !but.includes(uuid))
    .map(([, { bytes }]) => bytes);
}

/** By all but this one. */
export function heldForVaults(view: Now, but: string): number {
  let bytes = 0;
  for (const uuid of view.entries(vaultHoldMap).keys()) {
    if (uuid !== but) bytes += heldForVault(view, uuid);
  }
  return bytes;
}
