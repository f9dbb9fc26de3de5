import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { slowest } from './test/slowest.js';
import { buildSources, builtFolder } from './tools/built-sources.js';

const contracts = join(import.meta.dirname, 'proto/generated');
if (!existsSync(contracts)) execFileSync('npm', ['run', '--silent', 'proto'], { cwd: import.meta.dirname });
await buildSources();
const isWatching = process.argv.some((argument) => argument === '--watch' || argument === '-w');

function rank(file) {
  const place = slowest.indexOf(relative(import.meta.dirname, file));
  return place === -1 ? slowest.length : place;
}

export default {
  files: ['{runtime,actors,gateway,operations,cli,process,test,tools,benchmarks}/**/*.test.ts'],
  // So that AVA requires test files, and gets what tools/load-built.js makes of them.
  extensions: { ts: 'commonjs' },
  nodeArguments: ['--enable-source-maps', `--import=${join(import.meta.dirname, 'tools/load-built.js')}`],
  // This file is read once. When AVA watches, sources change later, and the workers look for changes themselves.
  environmentVariables: isWatching ? {} : { BUILT_SOURCES: builtFolder },
  watchMode: { ignoreChanges: ['.cache/**'] },
  workerThreads: false,
  // Files wait more than they compute: for leases, for browsers and for processes that start.
  concurrency: Math.ceil(1.5 * availableParallelism()),
  sortTestFiles: (one, other) => rank(one) - rank(other),
  timeout: '10m',
};
