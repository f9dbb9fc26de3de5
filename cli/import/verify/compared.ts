/** The result of a comparison. It names a bounded number of differences, and counts all. */
const differencesMax = 1_000;

interface Difference {
  readonly what: string;
  readonly uuid: string;
  readonly why: 'missing' | 'differs' | 'surplus';
}

export interface Compared {
  accounts: number;
  inUse: number;
  /** Accounts of the other server that an import refuses. */
  notImported: number;
  items: number;
  revisions: number;
  settings: number;
  vaults: number;
  members: number;
  invites: number;
  messages: number;
  notifications: number;
  files: number;
  differenceCount: number;
  readonly differences: Difference[];
  /** For each account and vault: how many items both servers have, and one digest over all of those items. */
  readonly collections: { uuid: string; items: number; revisions: number; sha256: string; same: boolean }[];
}

export const nothingCompared = (): Compared => ({
  accounts: 0,
  inUse: 0,
  notImported: 0,
  items: 0,
  revisions: 0,
  settings: 0,
  vaults: 0,
  members: 0,
  invites: 0,
  messages: 0,
  notifications: 0,
  files: 0,
  differenceCount: 0,
  differences: [],
  collections: [],
});

export function differ(compared: Compared, difference: Difference): void {
  compared.differenceCount += 1;
  if (compared.differences.length < differencesMax) compared.differences.push(difference);
}

interface Entry {
  readonly uuid: string;
  readonly sha256: string;
}

/** Compares lists by uuid. Returns how many the other server has. */
export function compareEntries(
  compared: Compared,
  what: string,
  { here, there }: { readonly here: readonly Entry[]; readonly there: readonly Entry[] },
): number {
  const left = new Map(here.map(({ uuid, sha256 }) => [uuid, sha256]));
  for (const { uuid, sha256 } of there) {
    const found = left.get(uuid);
    left.delete(uuid);
    if (found === undefined) differ(compared, { what, uuid, why: 'missing' });
    else if (found !== sha256) differ(compared, { what, uuid, why: 'differs' });
  }
  for (const uuid of left.keys()) differ(compared, { what, uuid, why: 'surplus' });
  return there.length;
}
