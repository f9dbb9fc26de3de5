/** What administrators ask about mail (docs/protocol/email-delivery.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import {
  auditPageFields,
  auditPageView,
  logPageFields,
  logPageView,
  queuePageFields,
  queuePageView,
  queueRecordView,
  recordFields,
  relayListFields,
  relayListView,
  testFields,
  testView,
} from '../../mailer/operator-contract.ts';
import { signedIn } from '../../signed-in.ts';

/** Each may be refused with 403 `admin-required`, 501 or 503. */
const commands = {
  listMailRelays: signedIn({ access: 'reads', fields: z.object({}), ok: relayListView }),
  setMailRelays: signedIn({ access: 'writes', fields: z.object(relayListFields), ok: relayListView }),
  testMail: signedIn({ access: 'writes', fields: z.object(testFields), ok: testView }),
  listMailQueue: signedIn({ access: 'reads', fields: z.object(queuePageFields), ok: queuePageView }),
  listMailLog: signedIn({ access: 'reads', fields: z.object(logPageFields), ok: logPageView }),
  listMailAudit: signedIn({ access: 'reads', fields: z.object(auditPageFields), ok: auditPageView }),
  retryMail: signedIn({
    access: 'writes',
    fields: z.object(recordFields),
    ok: z.object({ record: queueRecordView }),
  }),
  discardMail: signedIn({ access: 'writes', fields: z.object(recordFields), ok: z.object({}) }),
};

export const EmailDelivery = contract({
  name: 'user',
  commands,
});
