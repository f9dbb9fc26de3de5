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

/** As the server's driver reads it, which takes one without a host, too. @throws Error without the address: it has a password */
function urlOf(address) {
  for (const text of [address, address.replace('@/', '@nowhere/')])
    if (URL.canParse(text)) return new URL(text);
  throw new Error('the address of the database is none: docs/configuration.md, DATABASE_URL');
}

function environmentBy(address) {
  const url = urlOf(address);
  const given = Object.fromEntries(url.searchParams);
  return {
    PGHOST: given.host ?? decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    PGPORT: given.port ?? url.port,
    PGUSER: given.user ?? decodeURIComponent(url.username),
    PGPASSWORD: given.password ?? decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
    ...tlsBy(given),
  };
}

function tlsBy({ sslmode, sslrootcert, sslcert = '', sslkey = '', sslnegotiation = '', uselibpqcompat }) {
  const shown = { PGSSLCERT: sslcert, PGSSLKEY: sslkey, PGSSLNEGOTIATION: sslnegotiation };
  const isNamed = `${sslrootcert ?? ''}${sslcert}${sslkey}` !== '';
  const isAsked = sslmode !== undefined || isNamed || sslnegotiation === 'direct';
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
// Empty is not to all of libpq as if it were absent.
const given = Object.entries(environment).filter(([, value]) => value !== '');
const env = { ...process.env, ...Object.fromEntries(given) };
const { status, error } = spawnSync('psql', process.argv.slice(2), { stdio: 'inherit', env });
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
