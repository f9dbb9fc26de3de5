/**
 * The load test of the chart, following load-tests/README.md: users, an archive, a Secret, a Job, a page of each pod.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reportIn } from '../../load-tests/report/page.ts';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { unbuilt } from '../load-tests/unbuilt.ts';
import { type Installation, rolledOut, waiting } from './installation.ts';
import { images } from './machine/images.ts';

const { letIn, seed, makeArchive, makeSecret, turnOn, awaitEnd, readPages, listPods, turnOff } = commandsOf(
  'load-tests/README.md',
  'In Kubernetes',
  ['letIn', 'seed', 'makeArchive', 'makeSecret', 'turnOn', 'awaitEnd', 'readPages', 'listPods', 'turnOff'],
);

export { awaitEnd, letIn };

const { startHostsAnew } = commandsOf('load-tests/README.md', 'Against an installation', [
  'seed',
  'load',
  'startHostsAnew',
]);

/** For a minute, because two cores are the cluster, too. */
const briefly = { '--profile ci': '--profile smoke' };
/** Checks that it works. The speed of two cores that do everything else as well does not matter here. */
const slowly = '--set PER_SECOND=8 --set DURATION_SECONDS=60 --set P99_MS=20000 --set DROPPED=1';
const small = '--set loadTest.resources.requests.cpu=50m,loadTest.resources.requests.memory=128Mi';
/** Stops the wait for its end. */
const shortly = '--set loadTest.timeoutSeconds=300';
const machines = 2;
/** The firewalls of the nodes let a new pod in shortly after it has begun. */
const unreadAtStart = 1;

export const turnedOn = `${turnOn} --set loadTest.image=${images.k6} ${small} ${shortly} ${waiting}`;
export const turnedOff = `${turnOff} ${waiting}`;

/** The requests from this machine, to the Service at this address, with files in this folder. */
export function commandsFor(url: string, folder: string) {
  const at = (name: string) => ({ [name]: join(folder, name) });
  const installation = { ...unbuilt, ...briefly, 'https://notes.example.org': url, ...at('users.json') };
  const pages = join(folder, 'pages');
  const report = join(folder, 'hand-over');
  return {
    pages,
    seed: replaced(seed, installation),
    makeArchive: replaced(makeArchive, {
      ...unbuilt,
      ...briefly,
      ...at('users.json'),
      ...at('load-test.tar'),
    }),
    makeSecret: replaced(makeSecret, at('load-test.tar')),
    readPages: replaced(readPages, { '"$(basename "$pod").html"': `"${pages}/$(basename "$pod").html"` }),
    startHostsAnew: `${replaced(startHostsAnew, installation)} ${slowly} --report ${report}`,
  };
}

/** The problems in the pages of all pods; empty if there are none. */
export function complaintsAbout(pages: readonly string[]): readonly string[] {
  const reports = pages.map(reportIn);
  const complaints = pages.flatMap((page, index) => {
    const report = reports[index];
    if (report === undefined) return [`a pod printed no page: ${page.slice(0, 500)}`];
    const { verdict, metrics } = report;
    return [
      ...(verdict === 'passed' ? [] : [`a pod has not passed: ${JSON.stringify(report.objectives)}`]),
      ...(metrics.unread <= unreadAtStart ? [] : [`metrics could not be read: ${JSON.stringify(metrics)}`]),
    ];
  });
  if (pages.length !== machines) complaints.push(`${pages.length} pages of ${machines} pods`);
  const isSeen = reports.some((report) => report?.server.some(({ name }) => name === 'server_cpu_cores'));
  if (!isSeen) complaints.push('no page shows the server meanwhile');
  return complaints;
}

/**
 * @throws Error unless all pods of the Job have ended with a page that reports success, and one with the server's
 * state
 */
export async function loadTest({ operator, folder, url }: Installation): Promise<void> {
  const commands = commandsFor(url, folder);
  await operator.run(letIn);
  await operator.run(commands.seed);
  await operator.run(commands.makeArchive);
  await operator.run(commands.makeSecret);
  await operator.run(turnedOn);
  await operator.run(awaitEnd);
  mkdirSync(commands.pages);
  await operator.run(commands.readPages);
  const pages = readdirSync(commands.pages).map((name) => readFileSync(join(commands.pages, name), 'utf8'));
  const complaints = complaintsAbout(pages);
  if (complaints.length > 0) throw new Error([...complaints, await operator.run(listPods)].join('\n'));
  await operator.run(turnedOff);
}

/** While all hosts hand over to one another, with the users of the previous load test. */
export async function handOver(installation: Installation): Promise<void> {
  const { operator, folder, url } = installation;
  await operator.run(commandsFor(url, folder).startHostsAnew);
  await rolledOut(installation);
}
