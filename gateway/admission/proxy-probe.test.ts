import test from 'ava';
import { systemRandom } from '../../runtime/random.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { createClientAddress } from './client-address.ts';
import { createProxyProbe, probeQuestion, readProbeAnswer } from './proxy-probe.ts';

const key = Buffer.alloc(32, 1);
const request = {
  address: '198.51.100.7',
  forwardedFor: '198.51.100.7',
  forwardedProto: 'https',
  host: 'notes.test',
};

function viewOf(more: Partial<typeof request>, trustProxy = 'loopback') {
  const clock = new FakeClock();
  const probe = createProxyProbe(key, clock, createClientAddress(trustProxy));
  const answer = probe.answer(probeQuestion(key, clock.nowMs(), systemRandom), { ...request, ...more });
  return readProbeAnswer(answer ?? '');
}

const forwardedOf = (more: Partial<typeof request>, trustProxy?: string) =>
  viewOf(more, trustProxy)?.forwarded;

test('nobody is answered without the key, after a minute, or for an altered question', (t) => {
  const clock = new FakeClock();
  const probe = createProxyProbe(key, clock, createClientAddress('loopback'));
  const question = probeQuestion(key, clock.nowMs(), systemRandom);
  t.truthy(probe.answer(question, request));
  t.is(probe.answer('', request), undefined);
  t.is(probe.answer(`z${question}`, request), undefined);
  t.is(probe.answer(probeQuestion(Buffer.alloc(32, 2), clock.nowMs(), systemRandom), request), undefined);
  t.is(probe.answer(probeQuestion(key, clock.nowMs() - 60_001, systemRandom), request), undefined);
});

test('an answer tells what was believed, and no address', (t) => {
  t.deepEqual(viewOf({}), { forwarded: 'believed', protocol: 'https', host: 'notes.test' });
  const clock = new FakeClock();
  const probe = createProxyProbe(key, clock, createClientAddress('loopback'));
  const answer = probe.answer(probeQuestion(key, clock.nowMs(), systemRandom), request) ?? '';
  t.false(answer.includes('198.51.100.7'));
});

test('the forwarded address is believed if the client was found in the header', (t) => {
  t.is(forwardedOf({ forwardedFor: '' }), 'absent');
  t.is(forwardedOf({ forwardedFor: '192.0.2.1, 198.51.100.7:4711' }), 'believed');
  t.is(forwardedOf({ address: '2001:db8::7', forwardedFor: '[2001:db8::7]:4711' }), 'believed');
  t.is(forwardedOf({ address: '172.18.0.3' }), 'ignored');
});

test('a doctor on the machine of the proxy is told so only if loopback is trusted', (t) => {
  const local = { address: '127.0.0.1', forwardedFor: '127.0.0.1' };
  t.is(forwardedOf(local), 'believed');
  t.is(forwardedOf(local, 'false'), 'ignored');
});

test('the protocol of a proxy that is not trusted is ignored, with and without an address', (t) => {
  const protocolOf = (more: Partial<typeof request>) => viewOf(more)?.protocol;
  t.is(protocolOf({ address: '172.18.0.3' }), 'ignored');
  t.is(protocolOf({ address: '172.18.0.3', forwardedFor: '' }), 'ignored');
  t.is(protocolOf({ address: '127.0.0.1', forwardedFor: '' }), 'https');
  t.is(protocolOf({ forwardedProto: '' }), 'absent');
  t.is(protocolOf({ forwardedProto: 'http' }), 'other');
});

test('what is no answer is not read as one', (t) => {
  for (const text of ['', 'believed', 'yes;https;notes.test', 'believed;gopher;notes.test']) {
    t.is(readProbeAnswer(text), undefined);
  }
});
