/** Who shares vaults in the flavour `vaults`. */
import type { SeededRandom } from '../../kit/random.ts';

export interface VaultsPlan {
  readonly members: number;
  readonly vaults: number;
}

export function vaultsOf(random: SeededRandom): VaultsPlan {
  return { members: random.pick([2, 3, 3]), vaults: random.pick([1, 2, 2]) };
}
