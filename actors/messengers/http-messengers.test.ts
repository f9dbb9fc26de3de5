/** Against a fake of the answers that the providers document (`test/kit/messenger-server.ts`). */
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '../../runtime/clock.ts';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { type behaviours, startMessengerServer } from '../../test/kit/messenger-server.ts';
import { OutboundError } from '../outbound/http.ts';
import { createOutboundHttp } from '../outbound/node-http.ts';
import { createMessengers } from './http-messengers.ts';
import type { MessengerChannel, MessengerResult } from './messengers.ts';

const telegramBotToken = `4711:${'t'.repeat(35)}`;
const graph = { whatsappToken: 'graph-token', whatsappPhoneId: '123' };
const twilio = {
  twilioAccountSid: `AC${'0'.repeat(32)}`,
  twilioAuthToken: 'twilio-token',
  twilioWhatsappFrom: 'whatsapp:+14155238886',
};

async function started(t: ExecutionContext, credentials: object, timeoutMs?: number) {
  const fake = await startMessengerServer(t);
  const outbound = fake.outbound(createOutboundHttp({ clock: systemClock }));
  const http: typeof outbound = {
    send: (request) => outbound.send({ ...request, timeoutMs: timeoutMs ?? request.timeoutMs }),
  };
  const messengers = createMessengers({ http, clock: systemClock, credentials });
  const send = (
    channel: MessengerChannel,
    destination = '+49 151 12345678',
    text = 'A <b>text</b>\n& more',
  ) =>
    messengers.send({
      channel,
      destination,
      text,
      signal: new AbortController().signal,
      markInFlight: async () => true,
    });
  return { ...fake, messengers, send };
}

test('Telegram is asked at its fixed host, with the text as plain text', async (t) => {
  const { send, received } = await started(t, { telegramBotToken });
  t.deepEqual(await send('telegram', '-100123'), { result: 'accepted' });
  t.like(received, [{ host: 'api.telegram.org', path: `/bot${telegramBotToken}/sendMessage` }]);
  t.deepEqual(JSON.parse(received[0]?.body ?? ''), {
    chat_id: '-100123',
    text: 'A <b>text</b>\n& more',
    disable_web_page_preview: true,
  });
});

test('WhatsApp goes by its own provider where both are set up', async (t) => {
  const { send, received, behave } = await started(t, { ...graph, ...twilio });
  behave('graph takes it');
  t.deepEqual(await send('whatsapp'), { result: 'accepted' });
  t.like(received, [{ host: 'graph.facebook.com', path: '/v19.0/123/messages' }]);
  t.is(received[0]?.headers.authorization, 'Bearer graph-token');
  t.deepEqual(JSON.parse(received[0]?.body ?? ''), {
    messaging_product: 'whatsapp',
    to: '4915112345678',
    type: 'text',
    text: { body: 'A <b>text</b>\n& more' },
  });
});

test('or by Twilio, which takes less text', async (t) => {
  const { send, received, behave } = await started(t, twilio);
  behave('twilio takes it');
  t.deepEqual(await send('whatsapp', '4915112345678', `${'x'.repeat(1_598)}😀${'y'.repeat(300)}`), {
    result: 'accepted',
  });
  t.like(received, [
    { host: 'api.twilio.com', path: `/2010-04-01/Accounts/${twilio.twilioAccountSid}/Messages.json` },
  ]);
  const basic = Buffer.from(`${twilio.twilioAccountSid}:twilio-token`).toString('base64');
  t.is(received[0]?.headers.authorization, `Basic ${basic}`);
  const body = new URLSearchParams(received[0]?.body);
  t.is(body.get('To'), 'whatsapp:+4915112345678');
  t.is(body.get('From'), 'whatsapp:+14155238886');
  t.is(body.get('Body'), `${'x'.repeat(1_598)}…`);
});

const unable = (failure: 'not-configured' | 'transient', retryAfterMs?: number): MessengerResult => ({
  result: 'unable',
  failure,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const transient: MessengerResult = { result: 'transient', failure: 'transient' };

const results: Readonly<Record<MessengerChannel, Partial<Record<keyof typeof behaviours, MessengerResult>>>> =
  {
    telegram: {
      'chat not found': { result: 'rejected' },
      unauthorized: unable('not-configured'),
      forbidden: { result: 'rejected' },
      'no such bot': unable('not-configured'),
      'too many': unable('transient', 120_000),
      'too many, by a header': unable('transient', 90_000),
      'too many for a year': unable('transient', 6 * 3_600_000),
      'too many, for nonsense': unable('transient'),
      redirect: { result: 'rejected' },
      'internal error': transient,
      unavailable: transient,
      'bad gateway': { result: 'uncertain' },
      'gateway time-out': { result: 'uncertain' },
      hang: { result: 'uncertain' },
      cut: { result: 'uncertain' },
      'cut in the answer': { result: 'uncertain' },
      oversized: { result: 'uncertain' },
    },
    whatsapp: { forbidden: unable('not-configured'), 'no such bot': { result: 'rejected' } },
  };
for (const channel of ['telegram', 'whatsapp'] as const) {
  test(`${channel}: what a provider answers is one of a few words, and it follows nobody`, async (t) => {
    const { send, behave, received } = await started(t, { telegramBotToken, ...graph }, 1_000);
    for (const [as, result] of Object.entries(results[channel])) {
      behave(as as keyof typeof behaviours);
      t.deepEqual(await send(channel), result, as);
    }
    t.is(received.length, Object.keys(results[channel]).length);
  });
}

test('a message that never left is not uncertain', async (t) => {
  for (const [failure, result] of [
    ['unreachable', transient],
    ['unresolved', transient],
    ['timeout', { result: 'transient', failure: 'timeout' }],
    ['overloaded', unable('transient')],
  ] as const) {
    const http = { send: () => Promise.reject(new OutboundError(failure, false)) };
    const messengers = createMessengers({ http, clock: systemClock, credentials: { telegramBotToken } });
    const delivery = {
      channel: 'telegram',
      destination: '1',
      text: '',
      markInFlight: async () => true,
    } as const;
    t.deepEqual(await messengers.send({ ...delivery, signal: new AbortController().signal }), result);
  }
});

test('a channel is there with all of its credentials, and nothing is asked without', async (t) => {
  const { messengers, send, received } = await started(t, {
    whatsappToken: 'half',
    twilioAccountSid: twilio.twilioAccountSid,
  });
  t.deepEqual([messengers.isConfigured('telegram'), messengers.isConfigured('whatsapp')], [false, false]);
  t.deepEqual(await send('whatsapp'), unable('not-configured'));
  t.deepEqual(received, []);
});

test('a message that may not leave any more does not', async (t) => {
  const { messengers, received } = await started(t, { telegramBotToken });
  const delivery = {
    channel: 'telegram',
    destination: '1',
    text: '',
    markInFlight: async () => false,
  } as const;
  t.deepEqual(await messengers.send({ ...delivery, signal: new AbortController().signal }), {
    result: 'withdrawn',
  });
  t.deepEqual(received, []);
});

test('ten thousand at once do not burst: a few go, few wait, and the rest is told to come again before it is marked as in flight', async (t) => {
  const clock = new FakeClock();
  const timesMs: number[] = [];
  let handedOver = 0;
  const http = {
    send: async () => {
      timesMs.push(clock.monotonicMs());
      return { status: 200, headers: new Map<string, string>(), body: Buffer.alloc(0) };
    },
  };
  const messengers = createMessengers({ http, clock, credentials: { telegramBotToken } });
  const markInFlight = async () => {
    handedOver += 1;
    return true;
  };
  const delivery = { channel: 'telegram', destination: '1', text: '', markInFlight } as const;
  const results = Array.from({ length: 10_000 }, () =>
    messengers.send({ ...delivery, signal: new AbortController().signal }),
  );
  await drainPromises();
  t.is(timesMs.length, 4);
  await clock.advance(2_000);
  const all = await Promise.all(results);
  t.is(all.filter(({ result }) => result === 'accepted').length, 20);
  t.is(all.filter(({ result }) => result === 'unable').length, 9_980);
  t.is(handedOver, 20);
  const perSecond = timesMs.filter((atMs) => atMs < 1_000).length;
  t.true(perSecond <= 16, `${perSecond}`);
});
