/** Writes `docs/amplification.md` from the requests that a test holds to their bounds. */
import { readFileSync } from 'node:fs';
import { type Exception, headBytes, timesMax } from '../test/amplification/bounds.ts';
import { modestRoutes } from '../test/amplification/modest-routes.ts';
import { worstRequests } from '../test/amplification/worst-requests.ts';

const kibibyte = 1_024;
/** Shorter slices are not worth a row. */
const printedMs = 10;

export function amplificationDocument(): string {
  const rows = worstRequests.map(
    ({ route, worst, answer, writes }) =>
      `| \`${route}\` | ${worst} | ${boundText(answer)} | ${boundText(writes)} |`,
  );
  const { runs, machine, slices } = measuredSlices();
  const sliceRows = slices
    .filter(({ ms }) => ms >= printedMs)
    .map(({ route, worst, ms }) => `| \`${route}\` | ${worst} | ${Math.round(ms)} ms |`);
  return `# Amplification

<!-- Written by \`npm run docs\`. -->

How much the server may make of a request. \`test/amplification/amplification.test.ts\` asks the worst request of every route
and counts bytes. It counts what was sent, what was stored before for it, and what is answered. It also counts what is written
then and in the ten seconds that follow. An answer has at most ${timesMax} times the bytes that were sent and stored, and so have
the writes. A request without a body counts as ${headBytes} bytes. A route that is in neither list below fails the test.

The test counts no time: see [How long the event loop is held](#how-long-the-event-loop-is-held).

## What grows with what was stored

| Route | Worst request | Answer, at most | Writes, at most |
| ----- | ------------- | --------------- | --------------- |
${rows.join('\n')}

## How long the event loop is held

\`node --import=tsx benchmarks/event-loop.ts --write\` measures the longest slice of work of each request above, and of some that
take too long to prepare for a test. A streamed answer lets the loop turn after each mebibyte, and a long body is parsed in
slices. An answer that is one JSON document is serialised in one go. The bound is 50 ms on an idle machine. The table has
the shortest of ${runs} runs, of the requests that take ${printedMs} ms or more; ${machine}.

A frame of the sync lane is read in one piece. It has at most 512 KiB, 40,000 commas and brackets outside strings, and 1,024
members of one object. Before a socket has said whose it is, a frame has at most 4 KiB. On a busy machine the shortest of 60 runs
took 4 ms for eight items of 64 kB. It took 8 ms for 2,000 small ones. The worst frames that are taken, of 30,000 long numbers, took
12 ms of processor time.

| Route | Worst request | Longest slice |
| ----- | ------------- | ------------- |
${sliceRows.join('\n')}

## What stays small

These do not grow with what was stored, or what they list is short. Each is asked by a signed-in caller without a body, and with a long text in each
field. What needs a valet token, a token of another kind or an administrator is refused there: of these routes only the refusal is measured.

${modestRoutes.map((route) => `- \`${route}\``).join('\n')}
`;
}

interface MeasuredSlices {
  readonly runs: number;
  /** How busy the machine was. */
  readonly machine: string;
  /** The longest first. */
  readonly slices: readonly { readonly route: string; readonly worst: string; readonly ms: number }[];
}

const measuredSlices = (): MeasuredSlices =>
  JSON.parse(readFileSync(new URL('../test/amplification/slices.json', import.meta.url), 'utf8'));

function boundText(exception: Exception | undefined): string {
  if (exception === undefined) return `${timesMax} times`;
  return `${timesMax} times, and ${exception.bytes / kibibyte} KiB: ${exception.reason}`;
}
