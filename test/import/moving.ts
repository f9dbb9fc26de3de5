/** Moves an installation into a server in the test's own process, and looks at it as a client does. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { challengeOf, signIn, tokensOf } from '../kit/account.ts';
import { call } from '../kit/http.ts';
import { type ApiWorld, startApi } from '../kit/internal-api.ts';
import { type Operated, runTyped } from '../kit/operator.ts';
import { encryptionServerKey, serverPassword } from './installation.ts';
import { mariadbInstallation } from './mariadb.ts';
import { type SqliteInstallation, sqliteInstallation } from './sqlite.ts';

interface Source {
  readonly there: SqliteInstallation['there'];
  readonly folder: string;
  readonly from: string;
  whileClosed<T>(work: () => Promise<T>): Promise<T>;
  readonly passwordFile?: string;
}

export interface Move extends Source {
  readonly world: ApiWorld;
  readonly reportFile: string;
  /** One pass; its report. @throws Error unless it ends with this code */
  pass(options?: readonly string[], code?: number): Promise<Report>;
  verify(code?: number): Promise<Report>;
  run(...args: readonly string[]): Promise<Operated>;
}

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON
export type Report = any;

/** By the clock of the server, which is moved while a pass goes on: no limit. The timeout of the test is one. */
export const passMs = 1e10;

type WorldOptions = Parameters<typeof startApi>[1];

export const startMove = async (t: ExecutionContext, options?: WorldOptions): Promise<Move> =>
  moveFrom(t, await sqliteInstallation(t), options);

export async function startMoveFromMariadb(t: ExecutionContext): Promise<Move> {
  return moveFrom(t, { ...(await mariadbInstallation(t)), whileClosed: (work) => work() });
}

async function moveFrom(t: ExecutionContext, installation: Source, options?: WorldOptions): Promise<Move> {
  const world = await startApi(t, options);
  const { folder, from } = installation;
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, encryptionServerKey);
  const reportFile = join(folder, 'report.json');
  const { server, address } = world;
  const run = (...args: readonly string[]) => server.answered(runTyped(args, { address }), passMs);
  const { passwordFile } = installation;
  const access = passwordFile === undefined ? [] : ['--password-file', passwordFile];
  const source = ['--from', from, ...access, '--report', reportFile];
  const runFor = (command: string, options: readonly string[], code: number) =>
    installation.whileClosed(async () => {
      const ended = await run('import', command, ...source, ...options, '--json');
      if (ended.code !== code) throw new Error(`exit code ${ended.code}: ${ended.err} ${ended.out}`);
      return JSON.parse(ended.out);
    });
  return {
    ...installation,
    world,
    reportFile,
    run,
    pass: (options = ['--source-key-file', keyFile], code = 0) => runFor('server', options, code),
    verify: (code = 0) => runFor('verify', ['--source-key-file', keyFile], code),
  };
}

/** As a client that knows the password. */
export const signInWith = ({ world }: Move, email: string, password = 'password', fields: object = {}) =>
  signIn(world.server, { email, password: serverPassword(password), ...fields });

export async function loginParams({ world }: Move, email: string, fields: object = {}) {
  const body = { email, code_challenge: challengeOf('verifier'), ...fields };
  return call(world.server.url, 'POST', '/v2/login-params', { body });
}

/** Everything that a first sync gives. @throws Error where nobody can sign in */
export async function firstSync(move: Move, email: string, fields: object = {}) {
  const signedIn = await signInWith(move, email, 'password', fields);
  if (signedIn.status !== 200) throw new Error(`not signed in: ${signedIn.status} ${signedIn.text}`);
  const { access } = tokensOf(signedIn);
  const get = (path: string) => call(move.world.server.url, 'GET', path, { bearer: access });
  const sync = (items: readonly object[] = [], token?: string) =>
    call(move.world.server.url, 'POST', '/v1/items', {
      bearer: access,
      body: {
        api: '20240226',
        items,
        ...(token !== undefined && { sync_token: token }),
        compute_integrity: false,
      },
    });
  return { first: (await sync()).body, get, sync, access };
}
