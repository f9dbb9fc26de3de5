/** The part of the mutants that runs with every run of all tests: another with every commit, and all in time. */
import { execFileSync } from 'node:child_process';
import type { Mutant } from './mutant.ts';

const partMutants = 12;

/** Those whose turn it is with this commit, spread over the whole list. */
export function partOf(mutants: readonly Mutant[], commit: string): readonly Mutant[] {
  const parts = Math.ceil(mutants.length / partMutants);
  const turn = Number.parseInt(commit.slice(0, 8), 16) % parts;
  return mutants.filter((_, index) => index % parts === turn);
}

/** The commit of the sources here; zeros if they did not come from a repository. */
export function currentCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '00000000';
  }
}
