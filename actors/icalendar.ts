/**
 * Text of calendars by RFC 5545: what stands around their components, lines folded at 75 bytes, and text in which nothing
 * ends the property it stands in.
 */
const lineBytesMax = 75;

export const calendarBegin = content([
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Scriptorium//To-do feed//EN',
  'CALSCALE:GREGORIAN',
]);
export const calendarEnd = content(['END:VCALENDAR']);

/** A file with this one component. */
export const calendarOf = (component: string): string => calendarBegin + component + calendarEnd;

export const escaped = (text: string): string =>
  text.replaceAll(/[\\;,]/g, (character) => `\\${character}`).replaceAll(/\r\n|\r|\n/g, '\\n');

export function content(lines: readonly string[]): string {
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

/** Between characters alone: half a character would be none. */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= lineBytesMax) return line;
  const pieces: string[] = [];
  let piece = '';
  let pieceBytes = 0;
  for (const character of line) {
    const bytes = Buffer.byteLength(character);
    if (pieceBytes + bytes > lineBytesMax) {
      pieces.push(piece);
      piece = ' ';
      pieceBytes = 1;
    }
    piece += character;
    pieceBytes += bytes;
  }
  return [...pieces, piece].join('\r\n');
}
