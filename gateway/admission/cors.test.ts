import test from 'ava';
import { createCors } from './cors.ts';

const listed = createCors({ strict: true, allowedOrigins: ['https://app.example.org'] });

test('the origin is echoed with credentials, and the captcha header exposed', (t) => {
  const lines = createCors({ strict: false, allowedOrigins: [] }).replyLines('https://anything.test');
  t.true(lines.includes('\r\nAccess-Control-Allow-Origin: https://anything.test\r\n'));
  t.true(lines.includes('\r\nAccess-Control-Allow-Credentials: true\r\n'));
  t.regex(lines, /Expose-Headers: .*x-captcha-required/);
});

test('a request without an origin gets no lines', (t) => {
  t.is(listed.replyLines(''), '');
  t.is(listed.preflightLines('', 'authorization'), '');
});

test('strict mode knows the list, desktop and extension origins, null and localhost, and nothing else', (t) => {
  const allowed = [
    'https://app.example.org',
    'null',
    'file://',
    'file:///opt/app/index.html',
    'moz-extension://3b2f',
    'http://localhost',
    'http://localhost:3001',
  ];
  for (const origin of allowed) t.not(listed.replyLines(origin), '', origin);
  const refused = [
    'https://app.example.org.evil.test',
    'https://evil.test',
    'http://localhost.evil.test',
    'http://localhost:3001.evil.test',
    'https://localhost',
    'HTTPS://APP.EXAMPLE.ORG',
  ];
  for (const origin of refused) {
    t.is(listed.replyLines(origin), '', origin);
    t.is(listed.preflightLines(origin, ''), '', origin);
  }
});

test('strict mode with an empty list allows everything', (t) => {
  t.not(createCors({ strict: true, allowedOrigins: [] }).replyLines('https://anything.test'), '');
});

test('a preflight reflects the headers asked for, unless they are no list of names', (t) => {
  const lines = listed.preflightLines('null', 'authorization,x-snjs-version, content-type');
  t.true(lines.includes('\r\nAccess-Control-Allow-Headers: authorization,x-snjs-version, content-type\r\n'));
  t.true(lines.includes('Access-Control-Allow-Methods: GET, HEAD, PUT, PATCH, POST, DELETE'));
  t.false(listed.preflightLines('null', 'a: b').includes('Allow-Headers'));
});
