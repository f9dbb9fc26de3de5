/** A copy of the project in which the commands of its documents run literally. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { ExecutionContext } from 'ava';
import { findProgram, type Program } from '../../tools/program.ts';
import { curl } from '../../tools/programs.ts';
import { shell } from '../kit/shell.ts';
import { isOurs, root } from './texts.ts';

export interface StartedServer {
  /** The server's address, as it prints it. */
  readonly url: string;
  /** All that it has printed. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

export class Sandbox {
  readonly #servers: (() => Promise<void>)[] = [];
  readonly path: string;
  /** In addition to the machine's own variables. */
  readonly #programs: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(t: ExecutionContext) {
    this.path = mkdtempSync(join(tmpdir(), 'documented-'));
    t.teardown(async () => {
      await Promise.all(this.#servers.map((stop) => stop()));
      this.#remove();
    });
    cpSync(root, this.path, { recursive: true, filter: (from) => isOurs(relative(root, from)) });
    symlinkSync(join(root, 'node_modules'), join(this.path, 'node_modules'));
    this.#programs = join(this.path, '.programs');
    mkdirSync(this.#programs);
    this.link(curl);
    const path = process.env['PATH'];
    // The packages are installed already.
    this.addProgram('npm', `[ "$1" = ci ] && exit 0\nPATH='${path}'\nexec npm "$@"`);
    this.#environment = { ...process.env, PORT: '0', ADMIN_PORT: '0', PATH: `${this.#programs}:${path}` };
  }

  /** Runs commands to their end. Resolves to their output. */
  run(commands: string): Promise<string> {
    return shell(commands, { cwd: this.path, env: this.#environment });
  }

  /** Runs commands that start the server, until it reports that it runs. */
  start(commands: string): Promise<StartedServer> {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
      cwd: this.path,
      env: this.#environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    // Also if the test fails before it has stopped the server.
    this.#servers.push(() => stopped(child, ended));
    const output: string[] = [];
    return new Promise((resolve, reject) => {
      void ended.then(() => reject(new Error(`the server ended:\n${output.join('\n')}`)));
      const read = (line: string): void => {
        output.push(line);
        const [, url] = /^Scriptorium is running\. .*: (\S+)$/.exec(line) ?? [];
        if (url !== undefined) resolve({ url, lines: output, stop: () => stopped(child, ended) });
      };
      for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', read);
    });
  }

  /** A program of the machine, under the name by which the documents know it. */
  link(program: Program): void {
    symlinkSync(findProgram(program, process.env), join(this.#programs, program.commands[0] ?? ''));
  }

  /** A shell function in place of a program that is missing here. */
  addProgram(name: string, script: string): void {
    writeFileSync(join(this.#programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  #remove(): void {
    for (const data of ['data', 'data-before']) endDatabase(join(this.path, data));
    rmSync(this.path, { recursive: true, force: true });
  }
}

async function stopped({ pid = 0, exitCode, signalCode }: ChildProcess, ended: Promise<void>): Promise<void> {
  if (exitCode === null && signalCode === null) process.kill(-pid, 'SIGTERM');
  await ended;
}

/** A server that a failed test left running. */
function endDatabase(dataDirectory: string): void {
  try {
    const [pid] = readFileSync(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGQUIT');
  } catch {
    // There is none.
  }
}
