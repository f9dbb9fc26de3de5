/**
 * Text of calendars by RFC 5545: the frame around a component, lines folded at 75 bytes, and escaped text that cannot end its
 * property.
 */
const lineBytesMax = 75;

export const calendarBegin = content([
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Scriptorium//To-do feed//EN',
  'CALSCALE:GREGORIAN',
]);
export const calendarEnd = content(['END:VCALENDAR']);

/** A calendar with this one component. */
export const calendarOf = (component: string): string => calendarBegin + component + calendarEnd;

/** Replaces one kind of character after the other: a single pattern takes four times as long for a text of separators alone. */
export const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll(';', '\\;')
    .replaceAll(',', '\\,')
    .replaceAll(/\r\n|\r|\n/g, '\\n');

export function content(lines: readonly string[]): string {
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

/** Folds between characters, never within one. It works on bytes, as a description has up to 200 KB. */
function folded(line: string): string {
  if (line.length * 3 <= lineBytesMax) return line;
  const bytes = Buffer.from(line);
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    // The space that begins a continuation counts.
    let end = Math.min(bytes.length, start + lineBytesMax - (start === 0 ? 0 : 1));
    while (isWithinCharacter(bytes[end])) end -= 1;
    pieces.push(bytes.toString('utf8', start, end));
    start = end;
  }
  return pieces.join('\r\n ');
}

function isWithinCharacter(byte = 0): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}
