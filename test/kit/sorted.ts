/** How many values at the front satisfy the condition. None after the first that does not may satisfy it. */
export function countLeading<T>(values: readonly T[], isBefore: (value: T) => boolean): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(values[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
