/**
 * psql, with what it is told besides, on the database of the server. libpq is given the address by its environment, as anyone who
 * lists processes sees their arguments, and so that it connects as the server does: docs/configuration.md, "The external database".
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Where Node.js trusts roots of its own, libpq has to be told some. */
const systemRoots = '/etc/ssl/certs/ca-certificates.crt';
const { DATABASE_URL_FILE, PGPASSWORD_FILE } = process.env;

const textOf = (path) => readFileSync(path, 'utf8').trim();

/** Whatever is not given is empty, which is to libpq as if it were absent. */
function environmentBy(address) {
  const url = new URL(address);
  const given = Object.fromEntries(url.searchParams);
  return {
    PGHOST: given.host ?? decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    PGPORT: url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
    ...tlsBy(given),
  };
}

function tlsBy({ sslmode, sslrootcert, sslcert = '', sslkey = '', sslnegotiation = '', uselibpqcompat }) {
  const shown = { PGSSLCERT: sslcert, PGSSLKEY: sslkey, PGSSLNEGOTIATION: sslnegotiation };
  const isAsked = sslmode !== undefined || `${sslrootcert ?? ''}${sslcert}${sslkey}` !== '';
  if (!isAsked || sslmode === 'disable') return { PGSSLMODE: 'disable' };
  if (sslmode === 'no-verify') return { ...shown, PGSSLMODE: 'require' };
  const mode = uselibpqcompat === 'true' && sslmode !== undefined ? sslmode : 'verify-full';
  const roots = sslrootcert ?? (mode.startsWith('verify-') ? systemRoots : '');
  return { ...shown, PGSSLMODE: mode, PGSSLROOTCERT: roots };
}

const environment =
  DATABASE_URL_FILE === undefined
    ? { PGPASSWORD: textOf(PGPASSWORD_FILE) }
    : environmentBy(textOf(DATABASE_URL_FILE));
const env = { ...process.env, ...environment };
const { status, error } = spawnSync('psql', process.argv.slice(2), { stdio: 'inherit', env });
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
