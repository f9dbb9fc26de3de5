import test from 'ava';
import { lostCookies } from './lost-cookies.ts';

const acrossSites = { sameSite: 'None', secure: true } as const;
const ofOneSite = { sameSite: 'Lax', secure: false } as const;
const statusOf = (
  cookies: Parameters<typeof lostCookies>[0],
  origin: string,
  host: string,
  fetchSite = '',
  forwardedProto = '',
) => lostCookies(cookies, { origin, host, fetchSite, forwardedProto })?.tag;

test('cookies of one site are lost on a page of another one, as far as that is certain', (t) => {
  for (const [origin, host] of [
    ['http://localhost:8080', '127.0.0.1:3000'],
    ['http://192.168.0.7', '192.168.0.8:3000'],
    ['https://app.example.com', 'notes.example.org'],
    ['http://app', 'notes:3000'],
  ] as const) {
    t.is(statusOf(ofOneSite, origin, host), 'cookies-of-another-site', origin);
    t.is(statusOf(acrossSites, origin, host, 'cross-site'), undefined, origin);
  }
  t.is(statusOf(ofOneSite, 'https://a.co.uk', 'b.co.uk', 'cross-site'), 'cookies-of-another-site');
});

test('nothing is said of what may work', (t) => {
  for (const [origin, host, fetchSite] of [
    ['', '127.0.0.1:3000', ''],
    ['null', '127.0.0.1:3000', ''],
    ['file://', '127.0.0.1:3000', 'cross-site'],
    ['http://localhost:8080', 'localhost:3000', ''],
    ['https://app.example.org', 'notes.example.org', ''],
    ['http://localhost:8080', '127.0.0.1:3000', 'same-site'],
    ['http://localhost', '', ''],
  ] as const) {
    t.is(statusOf(ofOneSite, origin, host, fetchSite), undefined, `${origin} ${host}`);
  }
});

test('secure cookies are lost over plain http, but not on loopback', (t) => {
  t.is(statusOf(acrossSites, 'http://192.168.0.7:3000', '192.168.0.7:3000'), 'cookies-need-https');
  t.is(statusOf(acrossSites, 'https://notes.test', 'notes.test'), undefined);
  t.is(statusOf(acrossSites, 'http://localhost:3000', 'localhost:3000'), undefined);
  t.is(statusOf(acrossSites, 'http://app.test', 'notes.test', 'cross-site'), undefined);
  t.is(statusOf(acrossSites, 'http://localhost:8080', '127.0.0.1:3000'), undefined);
});

test('secure cookies are lost on a page of another site over plain http, too', (t) => {
  t.is(statusOf(acrossSites, 'http://192.168.0.7', '192.168.0.8:3000'), 'cookies-of-another-site');
  t.is(statusOf(acrossSites, 'http://app', 'notes:3000'), 'cookies-of-another-site');
  t.is(statusOf(acrossSites, 'http://app.home.test', 'notes.home.test'), 'cookies-need-https');
  t.is(
    statusOf(acrossSites, 'http://app', 'notes', '', 'https'),
    undefined,
    'an old browser, through a proxy',
  );
});
