/** Makes this many, a few at a time. */
export async function someAtOnce<T>(
  count: number,
  atOnce: number,
  make: (index: number) => Promise<T>,
): Promise<readonly T[]> {
  const made: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) made[index] = await make(index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return made;
}
