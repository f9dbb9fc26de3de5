/** A separate Gitea on a free port, with a database and repositories in a folder that goes with it. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { giteaFiles, giteaProgram } from '../../tools/gitea/gitea.ts';
import { endWithTests } from './child.ts';
import type { CodeHostRepository } from './code-host-server.ts';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

const startLimitMs = 120_000;
const base = '/api/v1';
const owner = 'somebody';

export interface Gitea {
  /** A separate one, with a first commit. */
  makeRepository(): Promise<CodeHostRepository>;
  stop(): Promise<void>;
}

/** It contacts nobody, and runs nothing by the clock. */
const configuration = (folder: string, port: number): string => `
RUN_USER = ${userInfo().username}
RUN_MODE = prod
WORK_PATH = ${folder}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = https://code.test/
STATIC_ROOT_PATH = ${giteaFiles()}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
[repository]
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = false
[packages]
ENABLED = false
[cron]
ENABLED = false
[log]
LEVEL = Warn
`;

export async function startGitea(): Promise<Gitea> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-gitea-'));
  const [port = 0] = await freePorts(1);
  const config = join(folder, 'app.ini');
  await writeFile(config, configuration(folder, port));
  const run = (...args: readonly string[]) => runGitea(['--config', config, ...args], folder);
  await run('migrate').ended;
  const email = `${owner}@example.org`;
  await run('admin', 'user', 'create', '--username', owner, '--email', email, '--random-password').ended;
  const tokenFor = async (name: string, scopes: string) => {
    const named = ['--username', owner, '--token-name', name, '--scopes', scopes, '--raw'];
    const said = await run('admin', 'user', 'generate-access-token', ...named).ended;
    // A warning may come before or after it if this is root.
    const [token] = /^[0-9a-f]{40}$/m.exec(said) ?? [];
    if (token === undefined) throw new Error(`Gitea has made no token: ${said}`);
    return token;
  };
  const maker = await tokenFor('maker', 'write:user,write:repository');
  const writer = await tokenFor('writer', 'write:repository');
  const reader = await tokenFor('reader', 'read:repository');

  const web = run('web');
  // `stop` asks for its end.
  web.ended.catch(() => {});
  const url = `http://127.0.0.1:${port}`;
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${maker}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok && answer.status !== 404) throw new Error(`Gitea answers ${answer.status}: ${text}`);
    return answer.ok ? JSON.parse(text) : undefined;
  };
  const isReady = () =>
    fetch(`${url}${base}/version`).then(
      ({ ok }) => ok,
      () => false,
    );
  await Promise.race([until(isReady, startLimitMs), web.ended]);

  let made = 0;
  return {
    async makeRepository() {
      made += 1;
      const repo = `notes-${made}`;
      await ask('POST', '/user/repos', { name: repo, auto_init: true, default_branch: 'main' });
      const contents = (path: string) =>
        `/repos/${owner}/${repo}/contents/${path.split('/').map(encodeURIComponent).join('/')}`;
      return {
        base,
        owner,
        repo,
        writer,
        reader,
        async answer({ method, url: path, headers, body }) {
          const { host: _, connection: __, 'content-length': ___, ...passedOn } = headers;
          const variables = {
            method,
            headers: passedOn as Record<string, string>,
            ...(body !== '' && { body }),
          };
          const answer = await fetch(`${url}${path}`, variables);
          return { status: answer.status, text: await answer.text() };
        },
        contentUrl: (encodedPath) => `https://code.test/${owner}/${repo}/src/branch/main/${encodedPath}`,
        async read(path) {
          const file = await ask('GET', `${contents(path)}?ref=main`);
          return file && Buffer.from(file.content, 'base64').toString();
        },
        async write(path, content) {
          const sha = (await ask('GET', `${contents(path)}?ref=main`))?.sha;
          const change = { branch: 'main', message: 'somebody else', ...(sha !== undefined && { sha }) };
          if (content === undefined) await ask('DELETE', contents(path), change);
          else
            await ask(sha === undefined ? 'POST' : 'PUT', contents(path), {
              ...change,
              content: Buffer.from(content).toString('base64'),
            });
        },
        lastMessage: async () =>
          (await ask('GET', `/repos/${owner}/${repo}/commits?limit=1`))[0].commit.message.trim(),
      };
    },
    async stop() {
      web.child.kill('SIGTERM');
      await web.ended.catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** `ended` resolves to its output, and rejects if it fails. */
function runGitea(args: readonly string[], folder: string) {
  const child = spawn(giteaProgram, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, GITEA_WORK_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  void endWithTests(child);
  let said = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(said);
      else
        reject(new Error(`gitea ${args.join(' ')} ended with ${code}:\n${said}\n${errors}`.slice(0, 20_000)));
    });
  });
  return { child, ended };
}
