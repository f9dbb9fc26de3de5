/**
 * The cost of calendar programs: polls of an unchanged calendar, and a program's first fetch of ten thousand to-dos.
 * Only the first poll in a minute takes an scrypt.
 */
import { requestBytes, runLoad } from '../http-load.ts';
import { type Account, ask, register } from '../support/api-client.ts';
import { someAtOnce } from '../support/at-once.ts';
import { residentBytes } from '../support/machine.ts';
import type { LoadServer } from '../support/server.ts';

const settings = { CALDAV_ENABLED: 'true', RATE_LIMIT_PUBLIC: '0', RATE_LIMIT_SESSION: '0' };
const todos = 10_000;
const atOnce = 16;
const load = { connections: 64, durationMs: 8_000, warmupMs: 1_500 };
const sampleMs = 10;
const calmMs = 3_000;

const dav = 'xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:s="http://calendarserver.org/ns/"';
const pollBody = `<propfind ${dav}><prop><s:getctag/></prop></propfind>`;
const queryBody =
  `<c:calendar-query ${dav}><prop><getetag/><c:calendar-data/></prop>` +
  '<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VTODO"/></c:comp-filter></c:filter></c:calendar-query>';

/** Makes only `part` of the to-dos. */
export async function calendar(before: LoadServer, part = 1): Promise<Record<string, number>> {
  const server = await before.restart(settings);
  try {
    const account = await publisher(server.url);
    const calendar = new URL(`/dav/calendars/${account.userUuid}/todos/`, server.url);
    const headers = await programOf(server.url, account);
    const count = Math.round(todos * part);
    await someAtOnce(count, atOnce, (index) => publish(server.url, account, index));
    await new Promise((resolve) => setTimeout(resolve, calmMs));
    const report = await firstReport(server, calendar, headers);
    if (report.objects !== count) throw new Error(`${report.objects} to-dos came`);
    const polls = await unchangedPolls(server, calendar, headers);
    return { ...report.figures, ...polls };
  } finally {
    await server.stop();
  }
}

async function publisher(url: string): Promise<Account> {
  const account = await register(url);
  const setting = { name: 'CALDAV_ENABLED', value: 'true', sensitive: false };
  await ask(url, 'PUT', `/v1/users/${account.userUuid}/settings`, account, setting);
  return account;
}

const publish = (url: string, account: Account, index: number): Promise<unknown> => {
  const description = 'Not before the evening, and not too much of it. '.repeat(4);
  return ask(url, 'POST', '/v1/caldav/todos', account, {
    uid: `todo-${index}`,
    summary: 'Water',
    description,
  });
};

async function programOf(url: string, { accessToken }: Account): Promise<Record<string, string>> {
  const reply = await fetch(`${url}/v1/caldav/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: '{"label":"load"}',
  });
  const { token } = (await reply.json()) as { token: { token: string } };
  const authorization = `Basic ${Buffer.from(`load:${token.token}`).toString('base64')}`;
  return { authorization, 'content-type': 'application/xml' };
}

/** A program that the server does not know yet: its token takes an scrypt. */
async function firstReport(server: LoadServer, calendar: URL, headers: Record<string, string>) {
  const beforeBytes = residentBytes(server.pid);
  let mostBytes = beforeBytes;
  const sampling = setInterval(() => {
    mostBytes = Math.max(mostBytes, residentBytes(server.pid));
  }, sampleMs);
  const began = performance.now();
  const reply = await fetch(calendar, {
    method: 'REPORT',
    headers: { ...headers, depth: '1' },
    body: queryBody,
  });
  let bytes = 0;
  let objects = 0;
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of reply.body ?? []) {
    bytes += chunk.length;
    const text = rest + decoder.decode(chunk, { stream: true });
    const parts = text.split('BEGIN:VTODO');
    objects += parts.length - 1;
    rest = (parts.at(-1) ?? '').slice(-'BEGIN:VTOD'.length);
  }
  const durationMs = performance.now() - began;
  clearInterval(sampling);
  if (reply.status !== 207) throw new Error(`a REPORT answered ${reply.status}`);
  return {
    objects,
    figures: {
      'to-dos in the first REPORT': objects,
      'the first REPORT, ms': durationMs,
      '… MB': bytes / 1e6,
      '… memory of the process beyond that before, MB': (mostBytes - beforeBytes) / 1e6,
    },
  };
}

async function unchangedPolls(server: LoadServer, calendar: URL, headers: Record<string, string>) {
  const request = requestBytes('PROPFIND', calendar, { ...headers, Depth: '0' }, pollBody);
  const { hostname, port } = calendar;
  const target = { host: hostname, port: Number(port), pid: server.pid, ...load };
  const result = await runLoad({ ...target, request: () => request });
  const others = Object.keys(result.statuses).filter((status) => status !== '207');
  if (others.length > 0) throw new Error(`unexpected answers: ${JSON.stringify(result.statuses)}`);
  return {
    'unchanged polls/s': result.repliesPerSecond,
    '… CPU us each': result.cpuMicrosPerReply,
    '… p50 ms': result.p50Ms,
    '… p99 ms': result.p99Ms,
  };
}
