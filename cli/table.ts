/** Text for people: tables and records that fit a terminal of 100 columns. */

export const columnsMax = 100;
const gap = '  ';

/** Numbers are right-aligned. */
export type Cell = string | number;

/** One line per row under its titles. If that is too wide, the widest cells are shortened in the middle. */
export function formatTable(titles: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '';
  const texts = [titles, ...rows.map((row) => row.map(plain))];
  const widths = fitted(
    titles.map((_, column) => Math.max(...texts.map((row) => (row[column] ?? '').length))),
  );
  const isNumber = titles.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  return texts
    .map((row) =>
      row
        .map((text, column) => {
          const width = widths[column] ?? 0;
          return isNumber[column] ? cut(text, width).padStart(width) : cut(text, width).padEnd(width);
        })
        .join(gap)
        .trimEnd(),
    )
    .join('\n');
}

/** One line per field, the names as wide as the longest. */
export function record(fields: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}${gap}${plain(value)}`.trimEnd()).join('\n');
}

/** `1 shard`, `2 shards`. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function size(bytes: number): string {
  const unit = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  const value = bytes / 1_024 ** unit;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** To the second, in UTC. */
export const timestamp = (date: Date | undefined) =>
  date === undefined ? '' : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** In the form for scripts. */
export const isoOf = (date: Date | undefined): string | null => date?.toISOString() ?? null;

/** Text that others have written may not control the terminal. */
export const plain = (cell: Cell) => String(cell).replace(/\p{Cc}/gu, '·');

/** Narrows the widest column by one until all fit. */
function fitted(widths: readonly number[]): readonly number[] {
  const narrowed = [...widths];
  const available = columnsMax - gap.length * (widths.length - 1);
  let surplus = narrowed.reduce((sum, width) => sum + width, 0) - available;
  for (; surplus > 0; surplus -= 1) {
    const widest = narrowed.indexOf(Math.max(...narrowed));
    narrowed[widest] = (narrowed[widest] ?? 0) - 1;
  }
  return narrowed;
}

function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  const head = Math.ceil((width - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (width - 1 - head))}`;
}
