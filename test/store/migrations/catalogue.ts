/** A schema as PostgreSQL itself reports it. */
import pg from 'pg';

interface CatalogueTable {
  /** The type, NOT NULL and the default of each column, in SQL. */
  readonly columns: Readonly<Record<string, string>>;
  /** The definitions of all indexes, those of keys included. */
  readonly indexes: Readonly<Record<string, string>>;
}

export type Catalogue = Readonly<Record<string, CatalogueTable>>;

const columnsQuery = `
  SELECT relation.relname AS "table", attname AS name, format_type(atttypid, atttypmod)
      || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
      || coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), '') AS definition
    FROM pg_class AS relation JOIN pg_attribute ON attrelid = relation.oid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped`;
const indexesQuery = `
  SELECT tablename AS "table", indexname AS name, indexdef AS definition FROM pg_indexes WHERE schemaname = 'public'`;

interface Definition {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

export async function catalogueOf(connection: pg.ClientConfig): Promise<Catalogue> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const columns = (await client.query<Definition>(columnsQuery)).rows;
    const indexes = (await client.query<Definition>(indexesQuery)).rows;
    const tables = [...new Set(columns.map(({ table }) => table))].sort();
    const of = (table: string) => ({
      columns: definitionsIn(columns, table),
      indexes: definitionsIn(indexes, table),
    });
    return Object.fromEntries(tables.map((table) => [table, of(table)]));
  } finally {
    await client.end();
  }
}

function definitionsIn(rows: readonly Definition[], table: string): Readonly<Record<string, string>> {
  const own = rows.filter((row) => row.table === table);
  return Object.fromEntries(own.map(({ name, definition }) => [name, definition]));
}
