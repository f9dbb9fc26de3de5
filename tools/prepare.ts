/**
 * `prepare.ts builds` and `prepare.ts programs` make what tests need, in parallel with each other and with the type
 * check. One keeps the processors busy, the other waits for the network. `npm test` then checks for all of it and
 * reports failures.
 */
import { builds, findOrMakePrograms } from './programs.ts';

const parts: Readonly<Record<string, () => void>> = {
  builds() {
    for (const build of Object.values(builds)) {
      try {
        build();
      } catch {
        // The next attempt reports the error.
      }
    }
  },
  programs: () => void findOrMakePrograms(process.env),
};

for (const name of process.argv.slice(2)) parts[name]?.();
