/** Against fakes of what the three providers say of their interfaces: none of them can be reached from a test. */
import test from 'ava';
import { OutboundError, type OutboundRequest } from '../outbound/http.ts';
import { createHosted } from './hosted.ts';
import type { HostedRelay } from './relays.ts';
import type { Attachment, SendResult } from './sender.ts';

const from = { name: 'Notes', address: 'notes@home.test' };
const message = {
  from,
  recipient: 'ann@example.test',
  subject: 'A subject',
  text: 'A text\n',
  messageId: '<one@home.test>',
  dateMs: 0,
};
const common = { id: 'one', name: '', enabled: true, from, rateLimit: { perMinute: null, perDay: null } };
const sendgrid: HostedRelay = { ...common, kind: 'sendgrid' };
const mailgun: HostedRelay = { ...common, kind: 'mailgun', domain: 'home.test', region: 'eu' };
const postmark: HostedRelay = { ...common, kind: 'postmark' };

async function sent(relay: HostedRelay, answer: number | OutboundError, attachment?: Attachment) {
  const did: string[] = [];
  const requests: OutboundRequest[] = [];
  const send = createHosted({
    async send(request) {
      did.push('request');
      requests.push(request);
      if (answer instanceof OutboundError) throw answer;
      return { status: answer, headers: new Map(), body: Buffer.from('words of the provider') };
    },
  });
  const result = await send({
    relay,
    credential: 'key',
    message: { ...message, attachment },
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    handOver: async () => void did.push('handed over'),
  });
  return { result, did, request: requests[0] as OutboundRequest };
}

for (const [relay, url, authorization] of [
  [sendgrid, 'https://api.sendgrid.com/v3/mail/send', { authorization: 'Bearer key' }],
  [
    mailgun,
    'https://api.eu.mailgun.net/v3/home.test/messages',
    { authorization: `Basic ${Buffer.from('api:key').toString('base64')}` },
  ],
  [postmark, 'https://api.postmarkapp.com/email', { 'x-postmark-server-token': 'key' }],
] as const) {
  test(`${relay.kind} is asked at its fixed address, once the mail is handed over, and follows nobody`, async (t) => {
    const { result, did, request } = await sent(relay, 200);
    t.deepEqual(result, { result: 'sent' });
    t.deepEqual(did, ['handed over', 'request']);
    t.like(request, { destination: 'fixed', method: 'POST', url, timeoutMs: 15_000 });
    t.is(request.redirectsMax, undefined);
    t.like(request.headers, authorization);
    const body = decodeURIComponent(String(request.body).replaceAll('+', ' '));
    for (const part of ['ann@example.test', 'A subject', 'A text', '<one@home.test>', 'auto-generated']) {
      t.true(body.includes(part), part);
    }
  });
}

test('nothing rewrites links or tracks readers', async (t) => {
  const [first, second, third] = await Promise.all(
    [sendgrid, mailgun, postmark].map(async (relay) => String((await sent(relay, 200)).request.body)),
  );
  const { tracking_settings } = JSON.parse(first ?? '');
  t.like(tracking_settings, {
    click_tracking: { enable: false, enable_text: false },
    open_tracking: { enable: false },
  });
  t.is(new URLSearchParams(second).get('o:tracking'), 'no');
  t.like(JSON.parse(third ?? ''), { TrackOpens: false, TrackLinks: 'None' });
});

test('a file goes with the request, which may then take the time of the whole attempt', async (t) => {
  const attachment = { filename: 'backup.txt', pieces: [Buffer.from('{"a":'), Buffer.from('"ö"}')] };
  const file = Buffer.concat(attachment.pieces);
  const requestTo = async (relay: HostedRelay) => (await sent(relay, 200, attachment)).request;
  const content = file.toString('base64');
  t.like(JSON.parse(String((await requestTo(sendgrid)).body)), {
    attachments: [{ filename: 'backup.txt', type: 'application/json', content }],
  });
  t.like(JSON.parse(String((await requestTo(postmark)).body)), {
    Attachments: [{ Name: 'backup.txt', ContentType: 'application/json', Content: content }],
  });
  const { body, headers, timeoutMs } = await requestTo(mailgun);
  t.is(timeoutMs, 60_000);
  const form = await new Response(body as Buffer<ArrayBuffer>, { headers: headers ?? {} }).formData();
  t.is(form.get('to'), 'ann@example.test');
  t.is(form.get('o:tracking'), 'no');
  const sentFile = form.get('attachment') as File;
  t.is(sentFile.name, 'backup.txt');
  t.deepEqual(Buffer.from(await sentFile.arrayBuffer()), file);
});

const answers: readonly (readonly [number | OutboundError, SendResult])[] = [
  [202, { result: 'sent' }],
  [422, { result: 'rejected', failure: 'rejected' }],
  [400, { result: 'rejected', failure: 'rejected' }],
  [301, { result: 'rejected', failure: 'rejected' }],
  [401, { result: 'unable', failure: 'authentication' }],
  [429, { result: 'unable', failure: 'rate-limited' }],
  [503, { result: 'transient', failure: 'provider' }],
  [502, { result: 'uncertain', failure: 'timeout' }],
  [504, { result: 'uncertain', failure: 'timeout' }],
  [new OutboundError('unreachable', false), { result: 'unable', failure: 'connection' }],
  [new OutboundError('timeout', true), { result: 'uncertain', failure: 'timeout' }],
  [new OutboundError('broken', true), { result: 'uncertain', failure: 'timeout' }],
];
test('an answer of a provider is one of a few words', async (t) => {
  for (const [answer, result] of answers) t.deepEqual((await sent(postmark, answer)).result, result);
});
