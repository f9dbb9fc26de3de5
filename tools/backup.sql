-- Writes what a database holds as a script for psql, in one snapshot, while the server goes on serving. Any psql will do,
-- whatever its version: it only copies rows. How to use it and how to restore: docs/operations.md, "Backup and restore".
--
-- The script replaces all rows of a database whose tables a server of this release has made, in one transaction. One
-- that was cut short lacks its last line, and restoring it changes nothing. Left out are who owns what (`node`,
-- `shard`), which is true of the running processes alone, and which migrations have run.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

SELECT 'BEGIN;';
SELECT format('TRUNCATE %s;', string_agg(quote_ident(tablename), ', ' ORDER BY tablename))
FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'migration%';

SELECT
  format('SELECT %L', format('COPY %s FROM stdin;', columns)),
  format('COPY %s TO stdout', columns),
  $$SELECT '\.'$$
FROM (
  SELECT format('%I (%s)', table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)) AS columns
  FROM information_schema.columns
  WHERE table_schema = 'public' AND table_name NOT IN ('node', 'shard') AND table_name NOT LIKE 'migration%'
  GROUP BY table_name
  ORDER BY table_name
) AS copied
\gexec

SELECT 'COMMIT;';
COMMIT;
