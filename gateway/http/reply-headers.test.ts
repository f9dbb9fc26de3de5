import test from 'ava';
import { BaseHeaders, standardHeaders } from './reply-headers.ts';

const own = new BaseHeaders().with({ 'Cache-Control': 'no-store', Vary: 'Origin' });

test('each header wins over the one before of its name, in whatever case', (t) => {
  const dav = own.with({ 'cache-control': 'private', DAV: '1' });
  t.is(dav.text, '\r\nVary: Origin\r\ncache-control: private\r\nDAV: 1');
  t.is(
    dav.textWith({ VARY: 'Authorization' }),
    '\r\ncache-control: private\r\nDAV: 1\r\nVARY: Authorization',
  );
  t.is(dav.textWith({ ETag: '"a"' }), `${dav.text}\r\nETag: "a"`);
  t.is(own.with(undefined), own);
});

test('an empty value leaves a header out', (t) => {
  t.is(own.with({ Vary: '' }).text, '\r\nCache-Control: no-store');
  t.is(own.textWith({ vary: '' }), '\r\nCache-Control: no-store');
});

test('no value can become a second line', (t) => {
  for (const value of ['a\r\nB: c', 'a\nB', 'a\u0000']) {
    t.throws(() => own.with({ A: value }), { instanceOf: TypeError });
    t.throws(() => own.textWith({ A: value }), { instanceOf: TypeError });
  }
});

test('the headers of every reply keep it out of caches, frames and guesses', (t) => {
  t.is(
    standardHeaders.text,
    '\r\nCache-Control: no-store\r\nVary: Origin\r\nX-Content-Type-Options: nosniff' +
      "\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'",
  );
});
