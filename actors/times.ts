/** Times as clients send them and get them, and the days by which daily limits count. */

export const isoTime = (ms: number): string => new Date(ms).toISOString();

export const isoTimeOrNull = (ms: number | null | undefined): string | null =>
  ms == null ? null : isoTime(ms);

const dayMs = 86_400_000;
/** The number of a day of UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);
/** When the day of this time ends. */
export const endOfDayMs = (ms: number): number => (dayOf(ms) + 1) * dayMs;

interface Created {
  readonly createdAtMs: number;
}

/** The order in which clients get what they have made. Entries of the same millisecond stay in the order of `made`. */
export const newestFirst = <T extends Created>(made: Iterable<T>): T[] =>
  [...made].toSorted((a, b) => b.createdAtMs - a.createdAtMs);

const isoText = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;
const zone = /(Z|[+-]\d{2}:?\d{2})$/i;
/** The latest time that a `Date` holds. */
const timeMsMax = 8_640_000_000_000_000;

/** Clients send milliseconds, or ISO text, which is UTC where it names no zone. Undefined: this is no time. */
export function sentTimeMs(sent: unknown): number | undefined {
  const ms = typeof sent === 'string' ? isoTimeMs(sent.trim()) : sent;
  return typeof ms === 'number' && Math.abs(ms) <= timeMsMax ? Math.trunc(ms) : undefined;
}

function isoTimeMs(text: string): number {
  if (!isoText.test(text)) return Number.NaN;
  const isZoned = zone.test(text) || !text.includes('T');
  return Date.parse(isZoned ? text : `${text}Z`);
}
