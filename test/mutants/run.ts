/**
 * `npm run mutants`: tries every mutant, or those whose names contain one of the given words, and reports which of
 * them no test has caught. First their tests run on the unchanged sources: a test that fails anyway catches nothing.
 */
import { availableParallelism } from 'node:os';
import { allMutants } from './mutant.ts';
import { Copy, tryMutants } from './trial.ts';

const words = process.argv.slice(2);
const mutants = (await allMutants()).filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
if (mutants.length === 0) throw new Error(`No mutant has ${words.join(' or ')} in its name.`);
const pristine = await Copy.make('pristine');
const healthy = await pristine.run([...new Set(mutants.flatMap(({ tests }) => tests))].toSorted());
pristine.remove();
if (healthy.verdict !== 'survived') {
  console.error(`Their tests do not pass without them: ${JSON.stringify(healthy)}`);
  process.exit(1);
}

const counts = { caught: 0, survived: 0, void: 0 };
await tryMutants(mutants, availableParallelism(), ({ name, harm }, verdict) => {
  counts[verdict.verdict] += 1;
  if (verdict.verdict === 'caught') console.log(`  ✔ ${name}, by: ${verdict.by}`);
  if (verdict.verdict === 'survived') console.log(`  ✘ ${name} survives. ${harm}`);
  if (verdict.verdict === 'void') console.log(`  ✘ ${name} could not be tried: ${verdict.why}`);
});
console.log(`${counts.caught} caught, ${counts.survived} survived, ${counts.void} could not be tried`);
process.exitCode = counts.survived + counts.void > 0 ? 1 : 0;
