/**
 * The database of the other server, as far as an import reads it. Statements quote by backticks, which both kinds of database
 * understand.
 */

import { CommandFailure, exitCodes } from '../../failure.ts';

export type SourceValue = string | number | bigint | Uint8Array | null;
export type SourceRow = Readonly<Record<string, SourceValue>>;

export interface Selection {
  readonly columns: string;
  readonly table: string;
  /** The condition of this table only, because the pages of a large table go by its `uuid`. */
  readonly where: string;
  readonly values: readonly SourceValue[];
}

export interface SourceDatabase {
  all(sql: string, values?: readonly SourceValue[]): Promise<readonly SourceRow[]>;
  /** All rows, in no particular order, and never all of them in memory. `columns` has to name `uuid`. */
  each(selection: Selection): AsyncIterable<SourceRow>;
  columnsOf(table: string): Promise<readonly string[]>;
  /** The expression for the bytes of a text in a column. */
  readonly lengthOf: (column: string) => string;
  close(): Promise<void>;
}

/** Reading changes nothing in the source, so another pass can go on from here. */
export const sourceReadFailure = (error: unknown): CommandFailure =>
  new CommandFailure(
    exitCodes.unavailable,
    `The database of the other server could not be read (${(error as Error).message}). Start again: what has come stays.`,
  );

/** `(?, ?, ?)` */
export const placeholders = (values: readonly unknown[]): string => `(${values.map(() => '?').join(', ')})`;

export function textIn(row: SourceRow, column: string): string | undefined {
  const value = row[column];
  if (value === null || value === undefined) return undefined;
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value);
}

/** @throws RangeError for a number that a double cannot hold exactly, which no source has */
export function numberIn(row: SourceRow, column: string): number {
  const value = Number(row[column] ?? 0);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`the column ${column} holds a number that is too large`);
  return value;
}

/** Null counts as false. */
export const flagIn = (row: SourceRow, column: string): boolean => Number(row[column] ?? 0) !== 0;

/** A date and time without a zone, with or without fractions. Undefined if there is none. */
export function millisecondsIn(row: SourceRow, column: string, utcOffsetMinutes: number): number | undefined {
  const text = textIn(row, column);
  if (text === undefined) return undefined;
  const ms = Date.parse(`${text.replace(' ', 'T').slice(0, 23)}Z`);
  return Number.isNaN(ms) ? undefined : ms - utcOffsetMinutes * 60_000;
}
