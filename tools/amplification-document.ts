/** `docs/amplification.md`, from the requests that a test holds to their bounds. */
import { type Exception, headBytes, timesMax } from '../test/amplification/bounds.ts';
import { modestRoutes } from '../test/amplification/modest-routes.ts';
import { worstRequests } from '../test/amplification/worst-requests.ts';

const kibibyte = 1_024;

export function amplificationDocument(): string {
  const rows = worstRequests.map(
    ({ route, worst, answer, writes }) =>
      `| \`${route}\` | ${worst} | ${boundText(answer)} | ${boundText(writes)} |`,
  );
  return `# Amplification

<!-- Written by \`npm run docs\`. -->

How much the server may make of a request. \`test/amplification/amplification.test.ts\` asks the worst request of every route
and counts bytes: what was sent, what was stored before for it, what is answered, and what is written then and in the ten
seconds that follow. An answer has at most ${timesMax} times the bytes that were sent and stored, and so have the writes; a request
without a body counts as ${headBytes} bytes. A route that is in neither list below fails the test.

The test counts no time; \`benchmarks/event-loop.ts\` measures how long each of these requests holds the event loop. A streamed
answer lets the loop turn after each mebibyte, and a long body is parsed in slices; an answer that is one JSON document is
serialised in one go, so a very large list holds the loop for as long as that takes.

## What grows with what was stored

| Route | Worst request | Answer, at most | Writes, at most |
| ----- | ------------- | --------------- | --------------- |
${rows.join('\n')}

## What stays small

These do not grow with what was stored, or what they list is short. Each is asked by a signed-in caller without a body, and with a long text in each
field. What needs a valet token, a token of another kind or an administrator is refused there: of these routes only the refusal is measured.

${modestRoutes.map((route) => `- \`${route}\``).join('\n')}
`;
}

function boundText(exception: Exception | undefined): string {
  if (exception === undefined) return `${timesMax} times`;
  return `${timesMax} times, and ${exception.bytes / kibibyte} KiB: ${exception.reason}`;
}
