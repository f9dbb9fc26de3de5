/** What happens to a vault as a whole, and reaches its parts as hooks. The membership raises them and knows no other part. */
import type { Turn, View } from '../../runtime/command.ts';
import { type HooksOf, partsWith } from '../../runtime/part.ts';
import type { VaultRow } from './tables.ts';

export interface VaultHooks {
  /** In the commit that ends the vault for everybody. `vault` is the row that it removes. */
  readonly ended: (turn: Turn, vault: VaultRow) => void;
  /** In the commit by which the survivor takes over. `vault` is the row from then on. */
  readonly ownerChanged: (turn: Turn, vault: VaultRow) => void;
  /** Whether the part still has something of an ended vault, which then cannot be torn down. */
  readonly hasRemains: (view: View) => boolean;
}

export type RaisedHooks = HooksOf<VaultHooks>;

export const vaultPart = partsWith<VaultHooks>();
