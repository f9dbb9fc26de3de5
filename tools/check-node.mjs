/** Says in one line what is wrong with an unsupported Node.js, before anything fails in a way that does not. */
import { readFileSync } from 'node:fs';

const supported = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node;
const [major, minor] = process.versions.node.split('.').map(Number);

const fits = supported.split('||').some((range) => {
  const [, wantedMajor, wantedMinor] = /\^(\d+)\.(\d+)/.exec(range);
  return major === Number(wantedMajor) && minor >= Number(wantedMinor);
});

if (!fits) {
  console.error(
    `Scriptorium runs on Node.js ${supported}; this is ${process.versions.node}. Other versions lack tests here, or a native HTTP server.`,
  );
  process.exit(1);
}
