/** The load test of the chart, as load-tests/README.md has it made: users, an archive, a Secret, a Job, its page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { unbuilt } from '../load-tests/unbuilt.ts';
import { type Installation, rolledOut, waiting } from './installation.ts';
import { images } from './machine/images.ts';

const { seed, makeArchive, makeSecret, turnOn, awaitEnd, readPage, turnOff } = commandsOf(
  'load-tests/README.md',
  'In Kubernetes',
  ['seed', 'makeArchive', 'makeSecret', 'turnOn', 'awaitEnd', 'readPage', 'turnOff'],
);
const { startHostsAnew } = commandsOf('load-tests/README.md', 'Against an installation', [
  'seed',
  'load',
  'startHostsAnew',
]);

/** For half a minute, as two cores are the cluster, too. */
const briefly = { '--profile ci': '--profile smoke' };
const awaitEndShortly = replaced(awaitEnd, { '--timeout=1h': '--timeout=300s' });
/** Whether it works: how fast two cores are that have everything else to do is no question here. */
const slowly = '--set PER_SECOND=8 --set DURATION_SECONDS=60 --set P99_MS=20000 --set DROPPED=1';
const small = '--set loadTest.resources.requests.cpu=50m,loadTest.resources.requests.memory=128Mi';

export const turnedOn = `${turnOn} --set loadTest.image=${images.k6} ${small} ${waiting}`;
export const turnedOff = `${turnOff} ${waiting}`;

/** What is asked from here, of the Service at this address, with files in this folder. */
export function commandsFor(url: string, folder: string) {
  const at = (name: string) => ({ [name]: join(folder, name) });
  const installation = { ...unbuilt, ...briefly, 'https://notes.example.org': url, ...at('users.json') };
  const page = join(folder, 'load-test.html');
  const report = join(folder, 'hand-over');
  return {
    page,
    seed: replaced(seed, installation),
    makeArchive: replaced(makeArchive, {
      ...unbuilt,
      ...briefly,
      ...at('users.json'),
      ...at('load-test.tar'),
    }),
    makeSecret: replaced(makeSecret, at('load-test.tar')),
    readPage: replaced(readPage, { 'report.html': page }),
    startHostsAnew: `${replaced(startHostsAnew, installation)} ${slowly} --report ${report}`,
  };
}

/** @throws Error unless the Job is complete and its page says that the run has passed */
export async function loadTest({ operator, folder, url }: Installation): Promise<void> {
  const commands = commandsFor(url, folder);
  await operator.run(commands.seed);
  await operator.run(commands.makeArchive);
  await operator.run(commands.makeSecret);
  await operator.run(turnedOn);
  await operator.run(awaitEndShortly);
  await operator.run(commands.readPage);
  const page = readFileSync(commands.page, 'utf8');
  if (!page.includes('<strong>passed</strong>'))
    throw new Error(`the load test printed no page that says that it has passed: ${page.slice(0, 500)}`);
  await operator.run(turnedOff);
}

/** While all hosts hand over to one another: by the users of the load test before. */
export async function handOver(installation: Installation): Promise<void> {
  const { operator, folder, url } = installation;
  await operator.run(commandsFor(url, folder).startHostsAnew);
  await rolledOut(installation);
}
