/**
 * `npm run test:counterparts`: other programs that the server talks to. They take too long to build for `npm test`,
 * which uses fakes. It builds each named one, or else all, and runs their tests.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildCollector } from './collector/collector.ts';
import { buildGitea } from './gitea/gitea.ts';
import { findOrMakeLitellm } from './litellm.ts';
import { buildVersitygw } from './versitygw.ts';

const makers: Readonly<Record<string, () => void>> = {
  collector: buildCollector,
  gitea: buildGitea,
  litellm: () => void findOrMakeLitellm(process.env),
  versitygw: buildVersitygw,
};

function make(name: string): string {
  const maker = makers[name];
  if (maker === undefined)
    throw new Error(`There is no ${name}; there are ${Object.keys(makers).join(', ')}.`);
  maker();
  return `test/counterparts/${name}.run.ts`;
}

const args = process.argv.slice(2);
const files = (args.length > 0 ? args : Object.keys(makers)).map(make);
const { status, error } = spawnSync(
  'node_modules/.bin/ava',
  ['--config', 'counterparts.config.js', ...files],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
  },
);
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
