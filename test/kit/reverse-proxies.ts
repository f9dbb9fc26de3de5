/**
 * Reverse proxies with the configurations of `docs/operations.md`, "In front of it". Each is one process on a
 * loopback port, with its files in a separate folder. Only names, ports and certificates are replaced, because tests
 * cannot have the real ones.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { findProgram, type Program } from '../../tools/program.ts';
import { caddy, haproxy, nginx } from '../../tools/programs.ts';
import { replaced } from '../documentation/commands.ts';
import { codeBlocksOf } from '../documentation/texts.ts';
import { endWithTests } from './child.ts';
import { freePorts } from './free-ports.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

export interface ReverseProxy {
  readonly program: Program;
  /** The title of its block in the guide. */
  readonly language: string;
  /** The values that a test cannot have, and their replacements. */
  readonly replacements: (port: number) => Readonly<Record<string, string>>;
  /** A whole configuration around that of the guide. */
  readonly whole: (configuration: string) => string;
  readonly arguments: (file: string, folder: string) => readonly string[];
}

const nginxFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export const reverseProxies: Readonly<Record<string, ReverseProxy>> = {
  nginx: {
    program: nginx,
    language: 'nginx',
    replacements: (port) => ({
      'listen 443 ssl;': `listen 127.0.0.1:${port};`,
      'ssl_certificate     /etc/ssl/notes.example.org/fullchain.pem;': '',
      'ssl_certificate_key /etc/ssl/notes.example.org/privkey.pem;': '',
    }),
    whole: (configuration) => `daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http {
${nginxFolders.map((name) => `${name}_temp_path ${name};`).join('\n')}
access_log off;
${configuration}
}`,
    arguments: (file, folder) => ['-p', folder, '-c', file, '-e', 'stderr'],
  },
  Caddy: {
    program: caddy,
    language: 'caddy',
    replacements: (port) => ({ 'notes.example.org': `http://127.0.0.1:${port}` }),
    whole: (configuration) => `{\n    admin off\n}\n${configuration}`,
    arguments: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
  HAProxy: {
    program: haproxy,
    language: 'haproxy',
    replacements: (port) => ({
      'bind :443 ssl crt /etc/ssl/notes.example.org/combined.pem': `bind 127.0.0.1:${port}`,
    }),
    whole: (configuration) => configuration,
    arguments: (file) => ['-db', '-f', file],
  },
};

/** Resolves to its address once it answers. */
export async function startReverseProxy(
  t: ExecutionContext,
  proxy: ReverseProxy,
  serverPort: number,
): Promise<{ readonly url: string; readonly port: number }> {
  const folder = temporaryFolder(t);
  const [port = 0] = await freePorts(1);
  const file = join(folder, 'configuration');
  const configuration = replaced(guided(proxy), {
    ...proxy.replacements(port),
    '127.0.0.1:3000': `127.0.0.1:${serverPort}`,
  });
  await writeFile(file, `${proxy.whole(configuration)}\n`);
  const child = spawn(findProgram(proxy.program, process.env), proxy.arguments(file, folder), {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => stop(child));
  const url = `http://127.0.0.1:${port}`;
  await ready(child, url, proxy.program.name);
  return { url, port };
}

/** @throws Error unless the guide has one configuration for it */
function guided({ language, program }: ReverseProxy): string {
  const [block, ...others] = codeBlocksOf('docs/operations.md').filter(
    (each) => each.section === 'In front of it' && each.language === language,
  );
  if (block === undefined || others.length > 0)
    throw new Error(`docs/operations.md, "In front of it" needs one configuration for ${program.name}.`);
  return block.text;
}

async function ready(child: ChildProcess, url: string, name: string): Promise<void> {
  void endWithTests(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output = (output + chunk).slice(-4_000);
    });
  }
  await until(async () => {
    if (hasEnded(child)) throw new Error(`${name} has ended: ${output}`);
    return (await fetch(`${url}/healthcheck`).catch(() => undefined))?.status === 200;
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
