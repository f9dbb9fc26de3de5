import test from 'ava';
import type { OutboundStream } from '../../actors/outbound/http.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { livingBytes } from '../../test/kit/garbage.ts';
import { Assistant } from './assistant.ts';
import { PendingChatRequest } from './chat-request.ts';

/** Accepts the request, sends one piece and then nothing more. */
async function open(): Promise<OutboundStream> {
  async function* chunks() {
    yield Buffer.from('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n');
    await new Promise(() => {});
  }
  return { status: 200, headers: new Map(), chunks: chunks() };
}

test('a prompt is not kept in memory while its answer lasts', async (t) => {
  const assistant = new Assistant({
    http: { open, send: () => Promise.reject(new Error('not here')) },
    clock: new FakeClock(),
    providers: new Map([['openai', { baseUrl: 'http://model.test', key: undefined }]]),
    default: undefined,
    streamsMax: 1,
  });
  const { signal } = new AbortController();
  const answered = () =>
    assistant.answer({
      chatRequest: new PendingChatRequest({
        messages: [{ role: 'user', content: 'x'.repeat(64 * 1_048_576) }],
      }),
      provider: 'openai',
      model: 'm',
      streamUuid: 'u',
      onEnd: () => {},
      gone: signal,
      stopping: signal,
      ended: signal,
    });
  const beforeBytes = await livingBytes();
  const answer = answered();
  await answer.next();
  t.regex(String((await answer.next()).value), /Hel/);
  const keptBytes = (await livingBytes()) - beforeBytes;
  t.true(keptBytes < 32 * 1_048_576, `${keptBytes} bytes`);
});
