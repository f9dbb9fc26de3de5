import { readFileSync } from 'node:fs';

/** The release, from the nearest package.json: above this folder, or above the one that it was built into. */
export function ownVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version;
    } catch {
      // It may be in the other place.
    }
  }
  return 'unknown';
}
