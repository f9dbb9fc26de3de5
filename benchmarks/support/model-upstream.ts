/**
 * A provider with OpenAI's interface, as a separate process. The last message chooses the answer: `events N` as fast
 * as they are taken, or `hold`, which is one event and then silence.
 *
 * node --import=tsx benchmarks/support/model-upstream.ts
 *
 * Its first line of output is its port.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const event = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const word = event('a few words ');
const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

function writeEvents(response: ServerResponse, count: number): void {
  let left = count;
  const more = () => {
    while (left > 0) {
      left -= 1;
      if (!response.write(word)) return void response.once('drain', more);
    }
    response.end(end);
  };
  more();
}

const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const { messages } = JSON.parse(text) as { messages: { content: string }[] };
  const [what, count] = (messages.at(-1)?.content ?? '').split(' ');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (what === 'hold') response.write(word);
  else writeEvents(response, Number(count));
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
