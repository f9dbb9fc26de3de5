/**
 * A server on a restored database for this process alone: a child process on a free loopback port, without a mail relay. It ends
 * with this process, even if that is killed.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { newChallenge } from '../../actors/identity/client-sign-in.ts';
import { BackupError } from './error.ts';

export interface ScratchServer {
  /** The token of a session. Undefined if the account has a second factor or may not sign in. @throws BackupError */
  signIn(account: { readonly email: string; readonly password: string }): Promise<string | undefined>;
  /** All items of an account, as a first sync gives them. @throws BackupError */
  items(token: string): AsyncIterable<Readonly<Record<string, unknown>>>;
  stop(): Promise<void>;
}

/** The entry of the server in the form in which this file runs: built, or as source. */
const entry = fileURLToPath(new URL(`../../main${extname(import.meta.url)}`, import.meta.url));
const startMs = 120_000;
const stopMs = 60_000;
const requestMs = 120_000;
const outputLinesMax = 20;
const api = '20200115';
const pageItems = 150;

export async function startScratchServer(options: {
  readonly dataDirectory: string;
  readonly clusterName: string;
}): Promise<ScratchServer> {
  const child = spawn(process.execPath, [...process.execArgv, entry], {
    // The channel carries nothing. It closes with this process, and the server then ends (`main.ts`).
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // It has no settings of the server that was backed up: it sends no mail and calls no other server.
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      LOG_LEVEL: 'error',
      RATE_LIMIT_PUBLIC: '0',
      DATA_DIR: options.dataDirectory,
      CLUSTER_NAME: options.clusterName,
    },
  });
  const ended = once(child, 'exit');
  const lastLines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    const fail = () =>
      reject(
        BackupError.damaged(
          `No server starts on the restored database: ${lastLines.join(' ').slice(-1_000)}`,
        ),
      );
    const alarm = setTimeout(fail, startMs);
    const read = (line: string) => {
      lastLines.push(line);
      if (lastLines.length > outputLinesMax) lastLines.shift();
      const [, found] = /sync server: (\S+)/.exec(line) ?? [];
      if (found === undefined) return;
      clearTimeout(alarm);
      resolve(found);
    };
    for (const output of [child.stdout, child.stderr])
      if (output !== null) createInterface({ input: output }).on('line', read);
    child.once('error', fail);
    child.once('exit', fail);
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    signIn: (account) => signIn(url, account),
    items: (token) => itemsOf(url, token),
    async stop() {
      child.kill('SIGTERM');
      const alarm = setTimeout(() => child.kill('SIGKILL'), stopMs);
      if (child.exitCode === null && child.signalCode === null) await ended;
      clearTimeout(alarm);
    },
  };
}

const refusals = [401, 403, 423];

async function signIn(
  url: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string | undefined> {
  const { verifier, challenge } = newChallenge(randomBytes(32));
  const params = await ask(url, '/v2/login-params', { body: { email, code_challenge: challenge, api } });
  if (refusals.includes(params.status)) return undefined;
  const answer = await ask(url, '/v2/login', { body: { email, password, code_verifier: verifier, api } });
  if (refusals.includes(answer.status)) return undefined;
  const token: unknown = answer.body?.data?.session?.access_token;
  if (typeof token === 'string') return token;
  throw BackupError.damaged(`A sign-in on the restored server was answered ${answer.status}.`);
}

async function* itemsOf(url: string, token: string): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for (let cursor: unknown; ; ) {
    const { status, body } = await ask(url, '/v1/items', {
      token,
      body: { api: '20240226', limit: pageItems, ...(cursor !== undefined && { cursor_token: cursor }) },
    });
    const page = body?.data ?? body;
    if (status !== 200 || !Array.isArray(page?.retrieved_items)) {
      throw BackupError.damaged(`A sync on the restored server was answered ${status}.`);
    }
    yield* page.retrieved_items;
    cursor = page.cursor_token ?? undefined;
    if (cursor === undefined) return;
  }
}

interface RequestOptions {
  readonly body: unknown;
  readonly token?: string;
}

interface ServerAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are untyped, as for any client
  readonly body: any;
}

async function ask(url: string, path: string, { body, token }: RequestOptions): Promise<ServerAnswer> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(requestMs),
  });
  return { status: answer.status, body: await answer.json().catch(() => undefined) };
}
