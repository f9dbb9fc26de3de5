/** A run ends before the long waits of the queue, so the relay never causes one. */
import test from 'ava';
import { mailTable } from '../../../actors/mailer/queue-table.ts';
import type { MailDelivery } from '../../../actors/mailer/sender.ts';
import type { MailSource } from '../../../actors/mailer/sources.ts';
import type { Commit } from '../../../runtime/store/store.ts';
import { SeededRandom } from '../../kit/random.ts';
import { Durable } from '../checkers/durable.ts';
import { MailChecker } from '../checkers/mails.ts';
import { SimulatedProcess } from '../process.ts';
import { SimulatedTime } from '../time.ts';
import { Relay } from './relay.ts';

const nothing = { unable: 0, putOff: 0, putOffLate: 0, cut: 0, crash: 0, pause: 0, stepMs: 0 };
const faults = [{ putOff: 1 }, { putOffLate: 1 }, { cut: 1 }];

/** The result of the next attempt to send a mail that so many attempts have failed to send. */
async function resultOf(source: MailSource, attempts: number, fault: Partial<typeof nothing>) {
  const time = new SimulatedTime();
  const durable = new Durable();
  const mails = new MailChecker({ report: () => {}, durable, time, skewMs: 0 });
  const plan = { owners: 1, publishers: 1, openers: 1, relay: { ...nothing, ...fault }, skewMs: 0 };
  const random = new SeededRandom(1);
  const relay = new Relay({ plan, random, time, mails, crash: () => {}, pause: () => {} });
  const messageId = '<one@notes.test>';
  const put = { mailer: 'mailer', id: 'one', message_id: messageId, source, attempts, state: 'leased' };
  durable.committed({ writes: [{ table: mailTable, put }] } as unknown as Commit);
  const sender = relay.senderOf(new SimulatedProcess('a', time, { wallSkewMs: 0, rate: 1 }));
  const message = { messageId, recipient: 'switch@switches.test', subject: 'Something was left for you' };
  const sent = sender.send({ message, handOver: async () => {} } as unknown as MailDelivery);
  await time.run(1_000, () => false);
  return (await sent).result;
}

for (const fault of faults) {
  const [name] = Object.keys(fault);
  test(`a mail is put off while its wait is short: ${name}`, async (t) => {
    t.not(await resultOf('dead-man-switch', 2, fault), 'sent');
    t.not(await resultOf('security-notice', 3, fault), 'sent');
  });

  test(`a mail that crashes have cut short too often is taken, as its wait would be long: ${name}`, async (t) => {
    t.is(await resultOf('dead-man-switch', 3, fault), 'sent');
    t.is(await resultOf('security-notice', 4, fault), 'sent');
  });

  test(`a mail that would be dead is taken: ${name}`, async (t) => {
    t.is(await resultOf('security-notice', 5, fault), 'sent');
  });
}
