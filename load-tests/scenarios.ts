/** All scenarios, each a script of k6. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = new URL('./scenarios/', import.meta.url);

export const scenarioNames: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.replace(/\.ts$/, ''))
  .toSorted();

/** @throws Error, one line */
export function scriptOf(scenario: string): string {
  if (!scenarioNames.includes(scenario))
    throw new Error(`There is no scenario ${scenario}: ${scenarioNames.join(', ')}.`);
  return fileURLToPath(new URL(`${scenario}.ts`, folder));
}
