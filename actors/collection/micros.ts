/** ISO 8601 times with microseconds, which the platform's dates would round away. */

const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

const isoLengthMax = 64;

/** `2024-02-26T10:11:12.345678Z`: UTC with exactly six fraction digits. */
export function formatMicros(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  const fraction = micros - seconds * 1_000_000;
  const time = new Date(seconds * 1_000).toISOString();
  return `${time.slice(0, -5)}.${String(fraction).padStart(6, '0')}Z`;
}

/** Microseconds since the epoch, or undefined for what is no ISO time (years 1685 to 2255). A time without a zone is UTC. */
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
