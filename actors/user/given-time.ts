/** Times as clients give them: milliseconds since the epoch, or ISO text, which is UTC unless it says otherwise. */

const isoText = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;
const zone = /(Z|[+-]\d{2}:?\d{2})$/i;
/** What the language knows as a time. */
const timeMsMax = 8_640_000_000_000_000;

/** Whole milliseconds; undefined for what is no time. */
export function givenTimeMs(given: unknown): number | undefined {
  const ms = typeof given === 'string' ? isoTimeMs(given.trim()) : given;
  return typeof ms === 'number' && Math.abs(ms) <= timeMsMax ? Math.trunc(ms) : undefined;
}

function isoTimeMs(text: string): number {
  if (!isoText.test(text)) return Number.NaN;
  const isZoned = zone.test(text) || !text.includes('T');
  return Date.parse(isZoned ? text : `${text}Z`);
}
