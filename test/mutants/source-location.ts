/** Finds the one place in the sources that contains a mutant's text. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import type { Mutant } from './mutant.ts';

export interface SourceLocation {
  readonly path: string;
  readonly text: string;
  readonly mutated: string;
}

/** Why there is no such place. */
export function locationOf(root: string, { file, find, replace }: Mutant): string | SourceLocation {
  const locations = sourcesOf(join(root, file)).flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    return Array.from({ length: text.split(find).length - 1 }, () => ({ path, text }));
  });
  const [location] = locations;
  if (location === undefined || locations.length > 1)
    return `found ${locations.length} times in ${file}: ${find}`;
  const mutated = location.text.split(find).join(replace);
  try {
    transformSync(mutated, { loader: 'ts' });
  } catch (error) {
    return `no TypeScript any more: ${String(error)}`;
  }
  return { ...location, mutated };
}

function sourcesOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(path, name));
}
