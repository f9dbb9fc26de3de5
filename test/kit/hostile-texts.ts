/**
 * Texts of all kinds of characters, and with everything that ends, folds, escapes or encodes something in calendars.
 */
import fc from 'fast-check';

const pieces = fc.constantFrom(
  ...[
    '\r\n',
    '\r',
    '\n',
    '\r\n ',
    '\\',
    '\\n',
    '\\,',
    ';',
    ',',
    ':',
    '"',
    '^n',
    '\t',
    ' ',
    '\u0085',
    '\u2028',
  ],
  ...['\nEND:VTODO\n', 'BEGIN:VALARM', '\u{1f600}', 'é', '\u007f', '\ufeff', '=0D=0A', '%0d%0a', 'X-A:b'],
);
export const hostileTexts = fc
  .array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 20 })), { minLength: 1, maxLength: 20 })
  .map((parts) => parts.join(''));
