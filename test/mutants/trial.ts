/**
 * Tries a mutant: it makes the edit in a copy of the project, runs the named tests there, and undoes the edit. The
 * copies lie inside the project, so that they find the same packages.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
const copied = ['runtime', 'actors', 'gateway', 'operations', 'process', 'proto', 'test', 'cli', 'tools'];
const copiedFiles = [
  'main.ts',
  'package.json',
  'tsconfig.json',
  'ava.config.js',
  // Tests of the sync lane use it.
  'docs/protocol/sync-lane-client.ts',
];
const limitPerFileMs = 120_000;

export class Copy {
  readonly #root: string;

  constructor(name: string) {
    this.#root = join(project, '.cache/mutants', `${name}-${process.pid}`);
    for (const path of [...copied, ...copiedFiles]) {
      cpSync(join(project, path), join(this.#root, path), { recursive: true });
    }
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  async try(mutant: Mutant): Promise<Verdict> {
    const location = locationOf(this.#root, mutant);
    if (typeof location === 'string') return { verdict: 'void', why: location };
    writeFileSync(location.path, location.mutated);
    try {
      return await this.run(mutant.tests, mutant.match);
    } finally {
      writeFileSync(location.path, location.text);
    }
  }

  /** Runs tests until the first one fails. */
  async run(tests: readonly string[], match?: string): Promise<Verdict> {
    const missing = tests.find((test) => !existsSync(join(this.#root, test)));
    if (missing !== undefined) return { verdict: 'void', why: `${missing} is not there` };
    const matching = match === undefined ? [] : ['--match', match];
    const args = ['--tap', '--fail-fast', ...matching, ...tests];
    const ava = join(project, 'node_modules/.bin/ava');
    const { output, ended } = await runAlone(ava, args, this.#root, tests.length * limitPerFileMs);
    const failed = /^not ok \d+ - (.*)$/m.exec(output)?.[1];
    const passed = /^ok \d+/m.test(output);
    if (failed !== undefined) return { verdict: 'caught', by: failed };
    if (ended === 'too late') return { verdict: 'caught', by: 'a test that found no end' };
    if (ended === 'well' && passed) return { verdict: 'survived' };
    return { verdict: 'void', why: `its tests did not run: ${output.slice(-500)}` };
  }
}

/** In a process group of its own. If a test never ends, its worker would otherwise outlive the process that runs it. */
function runAlone(
  file: string,
  args: readonly string[],
  cwd: string,
  limitMs: number,
): Promise<{ output: string; ended: 'well' | 'badly' | 'too late' }> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
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
  told: (mutant: Mutant, verdict: Verdict) => void,
): Promise<void> {
  const waiting = [...mutants];
  const worker = async (copy: Copy) => {
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        told(mutant, await copy.try(mutant));
      }
    } finally {
      copy.remove();
    }
  };
  const workers = Math.min(atOnce, mutants.length);
  await Promise.all(Array.from({ length: workers }, (_, n) => worker(new Copy(`${n}`))));
}
