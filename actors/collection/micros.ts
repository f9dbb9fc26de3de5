/** ISO 8601 times with microseconds, which the platform's dates would round away. */

const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

const isoLengthMax = 64;

const dayMicros = 86_400_000_000;
const twoDigits = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

/** Every item given has two times, and those of one page fall on few days. */
const dates = new Map<number, string>();
const datesMax = 4_096;

/** `2024-02-26T10:11:12.345678Z`: UTC with exactly six fraction digits. */
export function formatMicros(micros: number): string {
  const day = Math.floor(micros / dayMicros);
  const ofDay = micros - day * dayMicros;
  const seconds = Math.floor(ofDay / 1_000_000);
  const fraction = String(ofDay - seconds * 1_000_000).padStart(6, '0');
  const hour = twoDigits[Math.floor(seconds / 3_600)];
  const minute = twoDigits[Math.floor(seconds / 60) % 60];
  return `${dateOf(day)}T${hour}:${minute}:${twoDigits[seconds % 60]}.${fraction}Z`;
}

function dateOf(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const date = new Date(day * (dayMicros / 1_000)).toISOString().slice(0, 10);
  if (dates.size >= datesMax) dates.clear();
  dates.set(day, date);
  return date;
}

/**
 * Microseconds since the epoch, or undefined for what is not an ISO time (years 1685 to 2255). Without a zone it is
 * UTC.
 */
export function parseMicros(text: unknown): number | undefined {
  if (typeof text !== 'string' || text.length > isoLengthMax) return undefined;
  const match = isoTime.exec(text);
  if (match === null) return undefined;
  const [, date, time = '00:00:00', fraction = '', zone = 'Z'] = match;
  const millis = Date.parse(`${date}T${time}${offset(zone)}`);
  const micros = millis * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
  return Number.isSafeInteger(micros) ? micros : undefined;
}

function offset(zone: string): string {
  if (zone.length < 5) return 'Z';
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
}
