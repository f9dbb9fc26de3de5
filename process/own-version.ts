import { readFileSync } from 'node:fs';

/** The release, from the nearest package.json: above this folder, or above the one that it was built into. */
export function ownVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version;
    } catch {
      // The other place.
    }
  }
  return 'unknown';
}
