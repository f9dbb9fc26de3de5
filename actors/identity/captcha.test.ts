import test from 'ava';
import { OutboundError, type OutboundHttp, type OutboundRequest } from '../outbound/http.ts';
import { createCaptchaVerifier } from './captcha.ts';

/** A captcha server that answers with `body`, or fails where there is none. */
function createHttp(body: string | undefined, status = 200) {
  const sent: OutboundRequest[] = [];
  const http: OutboundHttp = {
    async send(request) {
      sent.push(request);
      if (body === undefined) throw new OutboundError('unreachable', false);
      return { status, headers: new Map(), body: Buffer.from(body) };
    },
  };
  return { http, sent };
}

test('a token passes where the captcha server says so', async (t) => {
  const { http, sent } = createHttp('{"status":"pass"}');
  t.true(await createCaptchaVerifier('https://captcha.example.org/base/', http).passes('a&b'));
  t.is(String(sent[0]?.url), 'https://captcha.example.org/base/verify?token=a%26b');
  t.is(sent[0]?.destination, 'fixed');
});

test('without a token no server is asked', async (t) => {
  const { http, sent } = createHttp('{"status":"pass"}');
  for (const token of [undefined, '']) {
    t.false(await createCaptchaVerifier('https://captcha.example.org', http).passes(token));
  }
  t.is(sent.length, 0);
});

for (const body of ['{"status":"fail"}', '{}', 'null', '"pass"', 'pass', '', undefined]) {
  test(`nobody passes with ${body === undefined ? 'no answer' : `the answer ${body}`}`, async (t) => {
    t.false(await createCaptchaVerifier('https://captcha.example.org', createHttp(body).http).passes('x'));
  });
}
