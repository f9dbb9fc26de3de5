export function grouped<T>(all: readonly T[], keyOf: (each: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group === undefined) groups.set(keyOf(each), [each]);
    else group.push(each);
  }
  return groups;
}
