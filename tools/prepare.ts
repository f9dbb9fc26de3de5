/**
 * `prepare.ts builds` and `prepare.ts programs` make what tests need, each beside the other and beside the type check: one
 * keeps the processors busy, the other waits for the network. `npm test` looks for all of it afterwards and tells what fails.
 */
import { builds, findOrMakePrograms } from './programs.ts';

const parts: Readonly<Record<string, () => void>> = {
  builds() {
    for (const build of Object.values(builds)) {
      try {
        build();
      } catch {
        // Whoever tries it again is told.
      }
    }
  },
  programs: () => void findOrMakePrograms(process.env),
};

for (const name of process.argv.slice(2)) parts[name]?.();
