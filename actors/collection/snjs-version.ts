/** Clients that are older than vaults get no vault items (docs/protocol/sync.md, "Saving an item"). */
const vaultsSince = [2, 200, 0] as const;

const semver = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?$/;

/** A missing or unreadable version counts as too old. */
export function knowsVaults(snjsVersion: string | null): boolean {
  const parts = semver
    .exec(snjsVersion ?? '')
    ?.slice(1)
    .map(Number);
  if (parts === undefined) return false;
  for (const [index, required] of vaultsSince.entries()) {
    const part = parts[index] ?? 0;
    if (part !== required) return part > required;
  }
  return true;
}
