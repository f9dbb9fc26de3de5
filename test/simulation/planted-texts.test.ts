/** Needs no simulation. Otherwise only a run that plants a bug would notice that its text has gone from the sources. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { plantedBugs } from './planted/mod.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

for (const [of, bugs] of Object.entries(plantedBugs)) {
  test(`the texts that the planted bugs of ${of} replace stand once in their sources`, (t) => {
    const edits = bugs.flatMap(({ name, edits }) => edits.map(({ file, find }) => ({ name, file, find })));
    const lost = edits.filter(
      ({ file, find }) => readFileSync(`${project}${file}`, 'utf8').split(find).length !== 2,
    );
    t.true(edits.length > 0);
    t.deepEqual(lost, []);
  });
}
