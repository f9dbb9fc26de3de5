import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { slowest } from './test/slowest.js';

const contracts = join(import.meta.dirname, 'proto/generated');
if (!existsSync(contracts)) execFileSync('npm', ['run', '--silent', 'proto'], { cwd: import.meta.dirname });

function rank(file) {
  const place = slowest.indexOf(relative(import.meta.dirname, file));
  return place === -1 ? slowest.length : place;
}

export default {
  files: ['{runtime,actors,gateway,operations,cli,process,test,tools}/**/*.test.ts'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  workerThreads: false,
  concurrency: availableParallelism(),
  sortTestFiles: (one, other) => rank(one) - rank(other),
  timeout: '10m',
};
