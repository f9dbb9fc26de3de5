/** A time as those parts of the interface give it that take texts. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();
