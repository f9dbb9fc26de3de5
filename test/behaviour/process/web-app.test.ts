/** A web app on the server's own origin, behind the proxies as `docs/tested-with.md` sets them up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { findProgram, type Program } from '../../../tools/program.ts';
import { caddy, nginx } from '../../../tools/programs.ts';
import { replaced } from '../../documentation/commands.ts';
import { codeBlocksOf } from '../../documentation/texts.ts';
import { Device } from '../../kit/device.ts';
import { freePorts } from '../../kit/free-ports.ts';
import { startServer } from '../../kit/started-server.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';
import { until } from '../../kit/until.ts';

const section = "A web app on the server's own origin";
const index = '<!doctype html><title>The app</title>';

const blockOf = (language: string): string =>
  codeBlocksOf('docs/tested-with.md').find(
    (block) => block.section === section && block.language === language,
  )?.text ?? '';

interface Scene {
  readonly folder: string;
  readonly app: string;
  readonly serverUrl: string;
  readonly port: number;
}

const configurations: Readonly<
  Record<
    string,
    { program: Program; make: (scene: Scene) => string; args: (file: string, folder: string) => string[] }
  >
> = {
  Caddy: {
    program: caddy,
    make: ({ app, serverUrl, port }) =>
      `{\n  admin off\n}\n${replaced(blockOf(''), {
        'notes.example.org': `http://127.0.0.1:${port}`,
        '127.0.0.1:3000': new URL(serverUrl).host,
        '/srv/notes-app': app,
      })}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  nginx: {
    program: nginx,
    make: ({ folder, app, serverUrl, port }) => {
      const block = replaced(blockOf('nginx'), {
        'listen 443 ssl;': `listen 127.0.0.1:${port};`,
        'http://127.0.0.1:3000': serverUrl,
        '/srv/notes-app': app,
      }).replace(/^ *ssl_certificate.*\n/gm, '');
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${join(folder, kind)};`,
      );
      return `user root;\ndaemon off;\npid ${join(folder, 'pid')};\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\ntypes { text/html html; }\n${temporary.join('\n')}\n${block}\n}\n`;
    },
    args: (file, folder) => ['-p', folder, '-c', file, '-e', 'stderr'],
  },
};

for (const [name, { program, make, args }] of Object.entries(configurations)) {
  test(`behind ${name} an app and the server have one origin, as the document says`, async (t) => {
    t.timeout(180_000);
    const server = await startServer();
    t.teardown(() => server.stop());
    const folder = temporaryFolder(t);
    const app = join(folder, 'app');
    await mkdir(app);
    await writeFile(join(app, 'index.html'), index);
    await writeFile(join(app, 'app.html'), 'another file');
    const [port = 0] = await freePorts(1);
    const file = join(folder, 'configuration');
    await writeFile(file, make({ folder, app, serverUrl: server.url, port }));
    const url = `http://127.0.0.1:${port}`;
    run(t, findProgram(program, process.env), args(file, folder), folder);
    await until(() =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    );

    t.is(await textOf(url), index);
    t.is(await textOf(`${url}/notes/of/the/app`), index, 'a path of the app');
    t.is(await textOf(`${url}/app.html`), 'another file');
    t.is(await textOf(`${url}/healthcheck`), 'OK');
    const device = await Device.register({ url });
    t.is((await device.sync()).conflicts.length, 0);
    for (const path of ['/v1/files', '/files/v1/files', '/dav/', '/subscription/x', '/auth']) {
      const answer = await fetch(url + path);
      t.not(await answer.text(), index, path);
    }
    const socket = await device.dial(t);
    t.false('status' in socket, 'a socket opens');
  });
}

const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

function run(t: ExecutionContext, program: string, options: readonly string[], folder: string): void {
  const child: ChildProcess = spawn(program, options, {
    env: { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
}
