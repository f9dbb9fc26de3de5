/**
 * Node.js loads this before each test file, to run what was built from it. AVA requires the test file and awaits what
 * it gets: here the import of the built file. No loader of modules stands in between.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSources, builtFile } from './built-sources.js';

const root = join(import.meta.dirname, '..');
await buildSources();

createRequire(import.meta.url).extensions['.ts'] = (module, path) => {
  const source = relative(root, path);
  noteTimesAtExit(source);
  module.exports = import(pathToFileURL(builtFile(source)).href);
};

/** `npm test` lists the slowest files (tools/test-times.ts). */
function noteTimesAtExit(file) {
  const notes = process.env.TEST_TIMES;
  if (notes === undefined) return;
  process.once('exit', () => {
    const { user, system } = process.cpuUsage();
    const cpuMs = Math.round((user + system) / 1_000);
    const wallMs = Math.round(performance.now());
    const times = { file, wallMs, cpuMs, processesCpuMs: processesCpuMs() };
    appendFileSync(notes, `${JSON.stringify(times)}\n`);
  });
}

/** The CPU time of all processes that this one has started and that have ended. Only Linux tells. */
function processesCpuMs() {
  if (process.platform !== 'linux') return 0;
  const msOfTick = 10;
  // The name of the program stands in brackets and may contain anything. What follows begins with the third field.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const [ticksOfUser, ticksOfSystem] = fields.slice(13, 15).map(Number);
  return (ticksOfUser + ticksOfSystem) * msOfTick;
}
