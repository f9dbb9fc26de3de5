/**
 * Rows in a backup: each is a JSON array on a line of its own, with the values in the order of the columns in the manifest. An
 * `int8` is a string, because it may be larger than the numbers of JSON, and a `bytea` is base64.
 *
 * The digest of a table is the sum of the SHA-256 of its lines, modulo 2^256. It does not depend on the order of rows, which
 * differs between databases.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { baseType, ident, idents, Parameters, typeOf } from '../../runtime/store/postgres/sql.ts';
import type { BackupTable } from './tables.ts';

type Value = string | boolean | null;
export type BackupRow = readonly Value[];

/** A row takes a megabyte at most, so this bounds the memory of a page. */
const pageRows = 100;

/** The rows in the order of their primary key, in pages that each begin after the last row of the page before. */
export async function* pagesOf(
  client: pg.ClientBase,
  table: BackupTable,
): AsyncGenerator<readonly BackupRow[]> {
  const columns = Object.keys(table.columns);
  const positions = table.primaryKey.map((column) => columns.indexOf(column));
  for (let after: BackupRow | undefined; ; ) {
    const { text, values } = pageStatement(table, after && positions.map((position) => after?.[position]));
    const { rows } = await client.query({ text, values: [...values], rowMode: 'array' });
    const page = (rows as unknown[][]).map((row) => row.map(textValue));
    if (page.length > 0) yield page;
    if (page.length < pageRows) return;
    after = page.at(-1);
  }
}

function pageStatement(table: BackupTable, after: readonly unknown[] | undefined) {
  const parameters = new Parameters();
  const key = idents(table.primaryKey);
  const bounds = table.primaryKey.map((column, index) =>
    after === undefined ? '' : parameters.add(typeOf(table.columns, column), after[index]),
  );
  const where = after === undefined ? '' : ` WHERE (${key}) > (${bounds.join(', ')})`;
  return {
    text: `SELECT ${idents(Object.keys(table.columns))} FROM ${ident(table.name)}${where} ORDER BY ${key} LIMIT ${pageRows}`,
    values: parameters.values,
  };
}

function textValue(value: unknown): Value {
  if (value === null || typeof value === 'boolean') return value;
  if (Buffer.isBuffer(value)) return value.toString('base64');
  return String(value);
}

export const lineOf = (row: BackupRow): string => JSON.stringify(row);

/** Inserts rows whose values are in the order of `columns`. */
export async function insertRows(
  client: pg.ClientBase,
  table: BackupTable,
  columns: readonly string[],
  rows: readonly BackupRow[],
): Promise<void> {
  const parameters = new Parameters();
  const arrays = columns.map((column, index) => {
    const type = typeOf(table.columns, column);
    return parameters.array(type, rows, (row) =>
      type === 'bytea' && typeof row[index] === 'string' ? Buffer.from(row[index], 'base64') : row[index],
    );
  });
  await client.query(
    `INSERT INTO ${ident(table.name)} (${idents(columns)})
    SELECT ${idents(columns, 'w')} FROM unnest(${arrays.join(', ')}) AS w(${idents(columns)})`,
    parameters.values,
  );
}

const modulus = 2n ** 256n;

export class TableDigest {
  rows = 0;
  #sum = 0n;

  add(line: string): void {
    this.rows += 1;
    const hash = createHash('sha256').update(line).digest('hex');
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) % modulus;
  }

  get hex(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}

/** Counts and digests what a table holds now. */
export async function tableDigestOf(client: pg.ClientBase, table: BackupTable): Promise<TableDigest> {
  const digest = new TableDigest();
  for await (const page of pagesOf(client, table)) for (const row of page) digest.add(lineOf(row));
  return digest;
}

/** The types of the columns. They do not say whether a column may be null, because a release may change that. */
export const typesOf = (table: BackupTable): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(table.columns).map(([name, type]) => [name, baseType(type as string as 'text')]),
  );
