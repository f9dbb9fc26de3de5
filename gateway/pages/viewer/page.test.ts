import { createHash } from 'node:crypto';
import test from 'ava';
import { startGateway } from '../../../test/kit/gateway.ts';
import { frontPageRoute } from '../../routes/health.ts';

const digestsOf = (html: string, element: string) =>
  [...html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'))].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );

test('the viewer’s page lets nothing run but what it brings along, and speaks to this server alone', async (t) => {
  const { url } = await startGateway(t, [frontPageRoute]);
  const answer = await fetch(`${url}/?shared=any`);
  const html = await answer.text();
  t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.is(answer.headers.get('referrer-policy'), 'no-referrer');
  t.is(answer.headers.get('x-content-type-options'), 'nosniff');
  const [scripts, styles] = [digestsOf(html, 'script'), digestsOf(html, 'style')];
  t.deepEqual([scripts.length, styles.length], [1, 1]);
  t.deepEqual((answer.headers.get('content-security-policy') ?? '').split('; '), [
    "default-src 'none'",
    `script-src ${scripts[0]}`,
    `style-src ${styles[0]}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  t.notRegex(html, /https?:\/\/|\bsrc=|\bhref=|\bon\w+="|style="/);
});

test('the query is no part of the page', async (t) => {
  const { url } = await startGateway(t, [frontPageRoute]);
  const pages = ['?shared=', '?shared=%3Cscript%3E', '?shared=a&shared=b', '?x=1&shared=a'].map(
    async (query) => {
      const answer = await fetch(`${url}/${query}`);
      return [answer.status, await answer.text()];
    },
  );
  const [first, ...others] = await Promise.all(pages);
  t.is(first?.[0], 200);
  for (const other of others) t.deepEqual(other, first);
});

test('without a share the address shows what it always did, and nothing but reading is answered', async (t) => {
  const { url } = await startGateway(t, [frontPageRoute]);
  const plain = await fetch(url);
  t.is(plain.headers.get('content-type'), 'text/html; charset=utf-8');
  t.regex(await plain.text(), /This is a Scriptorium server/);
  t.is(plain.headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
  const head = await fetch(`${url}/?shared=a`, { method: 'HEAD' });
  t.is(head.status, 200);
  t.is(await head.text(), '');
  for (const method of ['POST', 'PUT', 'DELETE']) {
    t.is((await fetch(`${url}/?shared=a`, { method })).status, 405);
  }
});
