/**
 * Tries a mutant: builds the edited source into a copy of the built sources, runs the named tests on the copy, and
 * undoes the edit.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSources, builtFile, builtFolder, compile } from '../../tools/built-sources.js';
import type { Mutant } from './mutant.ts';
import { locationOf } from './source-location.ts';

export type Verdict =
  /** A test failed, as it should. */
  | { readonly verdict: 'caught'; readonly by: string }
  /** All of its tests passed. */
  | { readonly verdict: 'survived' }
  /** It could not be tried, which is as bad: the source or the tests have changed. */
  | { readonly verdict: 'void'; readonly why: string };

const project = fileURLToPath(new URL('../../', import.meta.url));
/** AVA then reports the tests that have not ended as failed. */
const silenceMs = 90_000;
const limitPerFileMs = 120_000;

export class Copy {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(name: string): Promise<Copy> {
    await buildSources();
    const folder = join(project, '.cache/mutants', `${name}-${process.pid}`);
    cpSync(builtFolder, folder, { recursive: true });
    return new Copy(folder);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async try(mutant: Mutant): Promise<Verdict> {
    const location = locationOf(project, mutant);
    if (typeof location === 'string') return { verdict: 'void', why: location };
    const source = relative(project, location.path);
    const built = builtFile(source, this.#folder);
    const unchanged = readFileSync(built);
    writeFileSync(built, await compile(location.mutated, source));
    try {
      return await this.run(mutant.tests, mutant.match);
    } finally {
      writeFileSync(built, unchanged);
    }
  }

  /** Runs tests until the first one fails. */
  async run(tests: readonly string[], match?: string): Promise<Verdict> {
    const missing = tests.find((test) => !existsSync(join(project, test)));
    if (missing !== undefined) return { verdict: 'void', why: `${missing} is not there` };
    const matching = match === undefined ? [] : ['--match', match];
    const args = ['--tap', '--fail-fast', `--timeout=${silenceMs}ms`, ...matching, ...tests];
    return verdictOf(await runAlone(args, this.#folder, tests.length * limitPerFileMs));
  }
}

interface Run {
  readonly output: string;
  readonly ended: 'well' | 'badly' | 'too late';
}

/**
 * A run without a test proves nothing. Either the `match` meets no title any more, or the sources cannot be loaded, which AVA
 * reports as failed but does not count.
 */
export function verdictOf({ output, ended }: Run): Verdict {
  const tests = Number(/^# tests (\d+)$/m.exec(output)?.[1] ?? 0);
  const failed = /^not ok \d+ - (.*)$/m.exec(output)?.[1];
  if (tests > 0 && failed !== undefined) return { verdict: 'caught', by: failed };
  if (tests > 0 && ended === 'well') return { verdict: 'survived' };
  return { verdict: 'void', why: `its tests did not run, or found no end: ${output.slice(-500)}` };
}

/** In a process group of its own. If a test never ends, its worker would otherwise outlive the process that runs it. */
function runAlone(args: readonly string[], builtSources: string, limitMs: number): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(project, 'node_modules/.bin/ava'), [...args], {
      cwd: project,
      env: { ...process.env, BUILT_SOURCES: builtSources },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { stdout: '', stderr: '' };
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, limitMs);
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text) => {
        texts[stream] += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({
        output: texts.stdout + texts.stderr,
        ended: isLate ? 'too late' : code === 0 ? 'well' : 'badly',
      });
    });
  });
}

/** Tries each, several at once, and reports each as soon as it is known. */
export async function tryMutants(
  mutants: readonly Mutant[],
  atOnce: number,
  report: (mutant: Mutant, verdict: Verdict) => void,
): Promise<void> {
  const waiting = [...mutants];
  const worker = async (name: string) => {
    const copy = await Copy.make(name);
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        report(mutant, await copy.try(mutant));
      }
    } finally {
      copy.remove();
    }
  };
  const workers = Math.min(atOnce, mutants.length);
  await Promise.all(Array.from({ length: workers }, (_, n) => worker(`${n}`)));
}
