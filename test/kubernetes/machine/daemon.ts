/** A program that runs until it is stopped, with its output in a file. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

const endLimitMs = 20_000;
/** Without npm's folders, which contain other programs with the names of the system's. */
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface DaemonOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly logFolder: string;
}

export class Daemon {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor({ name, command, logFolder }: DaemonOptions) {
    const [program = '', ...args] = command;
    const log = openSync(join(logFolder, `${name}.log`), 'a');
    this.#child = spawn(program, args, {
      stdio: ['ignore', log, log],
      cwd: logFolder,
      env: { PATH: systemPath },
    });
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', () => resolve());
      this.#child.once('exit', () => resolve());
    });
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), endLimitMs);
    await this.#ended;
    clearTimeout(timer);
  }
}
