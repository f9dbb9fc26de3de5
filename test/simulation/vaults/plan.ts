/** The users who share vaults in the flavour `vaults`. */
import type { SeededRandom } from '../../kit/random.ts';

export interface VaultsPlan {
  readonly members: number;
  readonly vaults: number;
  /** How many delete their accounts. If somebody does, survivors are designated. */
  readonly leavers: number;
}

export function vaultsOf(random: SeededRandom): VaultsPlan {
  const [members, vaults, leavers] = [
    random.pick([2, 3, 3]),
    random.pick([1, 2, 2]),
    random.pick([0, 1, 1, 2]),
  ];
  return { members: members + Math.min(1, leavers), vaults, leavers };
}
