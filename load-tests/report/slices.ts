/** Cuts a run into slices of equal length, so that its report shows what happened when. */

export const sliceCount = 20;

/** The value of the tag. */
const sliceName = (index: number): string => `s${String(index).padStart(2, '0')}`;
export const sliceNames: readonly string[] = Array.from({ length: sliceCount }, (_, index) =>
  sliceName(index),
);

/** Anything after the end, such as requests in flight, belongs to the last slice. */
export function sliceAt(elapsedMs: number, durationMs: number): string {
  const index = Math.floor((elapsedMs / durationMs) * sliceCount);
  return sliceName(Math.min(sliceCount - 1, Math.max(0, index)));
}
