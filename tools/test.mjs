/**
 * `npm test`: type check, lint and every test, each counted, with `N passed, N failed` as the last line. Nothing
 * stops at the first failure.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findChromium } from './chromium.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const counts = { passed: 0, failed: 0 };

function count(ok, title) {
  counts[ok ? 'passed' : 'failed'] += 1;
  console.log(`  ${ok ? '✔' : '✘'} ${title}`);
}

/** Runs a program of node_modules; every line of its output goes to `onLine`. Resolves to its exit code. */
function run(program, args, env, onLine) {
  const options = { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] };
  const child = spawn(`node_modules/.bin/${program}`, args, options);
  createInterface({ input: child.stdout }).on('line', onLine);
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`${program} could not be run: ${error.message}`);
      resolve(127);
    });
    child.once('close', (code) => resolve(code));
  });
}

async function check(title, program, args) {
  count((await run(program, args, {}, (line) => console.log(line))) === 0, title);
}

async function runTests(env) {
  const failedBefore = counts.failed;
  const code = await run('ava', ['--tap'], env, (line) => {
    const [, not, title, directive] = /^(not )?ok \d+ - (.*?)( # (?:SKIP|TODO).*)?$/.exec(line) ?? [];
    if (title === undefined) return /^(#|TAP|\d+\.\.)/.test(line) || console.log(line);
    if (directive === undefined) return count(not === undefined, title);
    console.log(`  - ${title}${directive}`);
  });
  if (code !== 0 && counts.failed === failedBefore) count(false, `the test runner ended with ${code}`);
}

await check('type check', 'tsc', ['-p', 'tsconfig.json']);
await check('lint', 'biome', ['check', '.']);
try {
  await runTests({ CHROMIUM_PATH: findChromium() });
} catch (error) {
  console.error(error.message);
  count(false, 'everything the tests need is there');
}

console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;
