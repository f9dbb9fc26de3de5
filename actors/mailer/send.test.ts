import test from 'ava';
import { Registry } from 'prom-client';
import { countedMailSender } from './send.ts';
import type { MailDelivery, SendResult } from './sender.ts';

const delivery = {
  relay: { kind: 'smtp', host: 'relay.example.org', username: 'user@example.org' },
  message: { recipient: 'alice@example.org', subject: 'Subject', text: 'Text' },
} as unknown as MailDelivery;

test('every attempt is counted by what came of it, and answered as it was', async (t) => {
  const registry = new Registry();
  const results: readonly SendResult[] = [
    { result: 'sent' },
    { result: 'sent' },
    { result: 'transient', failure: 'rate-limited' },
    { result: 'uncertain', failure: 'timeout' },
  ];
  const left = [...results];
  const sender = countedMailSender(
    { send: async () => left.shift() ?? Promise.reject(new Error('late')) },
    registry,
  );
  for (const result of results) t.deepEqual(await sender.send(delivery), result);
  await t.throwsAsync(sender.send(delivery), { message: 'late' });
  const text = await registry.metrics();
  const counts = text.split('\n').filter((line) => line.startsWith('scriptorium_mail_attempts_total'));
  t.deepEqual(counts, [
    'scriptorium_mail_attempts_total{relay="smtp",outcome="sent",failure=""} 2',
    'scriptorium_mail_attempts_total{relay="smtp",outcome="transient",failure="rate-limited"} 1',
    'scriptorium_mail_attempts_total{relay="smtp",outcome="uncertain",failure="timeout"} 1',
    'scriptorium_mail_attempts_total{relay="smtp",outcome="lost",failure=""} 1',
  ]);
  t.notRegex(text, /example\.org|Subject|Text/);
});
