/** Builds and runs the program beside this file, which parses SQL as CockroachDB does. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runGo } from '../go-program.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const program = fileURLToPath(new URL('../../.cache/cockroach-dialect', import.meta.url));
const outputBytesMax = 64 * 1024 * 1024;

/** The statements of one connection, in order. */
export interface Script {
  readonly texts: readonly string[];
  /** Why it may take row locks without a transaction. */
  readonly lockReason?: string;
}

export interface Violation {
  readonly line: number;
  readonly text: string;
  readonly rule: string;
  readonly message: string;
}

/** On first use on a machine this fetches and compiles the parser: a minute or two. @throws Error, one line */
export function buildDialectChecker(): void {
  runGo('CockroachDB’s SQL parser', ['build', '-buildvcs=false', '-o', program, '.'], { cwd: folder });
}

/** Schema changes come first: the others are resolved against the resulting schema. */
export function checkDialect(scripts: readonly Script[]): readonly Violation[] {
  const input = scripts.map((script) => `${JSON.stringify(script)}\n`).join('');
  const ran = spawnSync(program, { input, encoding: 'utf8', maxBuffer: outputBytesMax });
  if (ran.error !== undefined || ran.status !== 0) {
    throw new Error(`the dialect checker failed: ${ran.error?.message ?? ran.stderr}`);
  }
  return ran.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
