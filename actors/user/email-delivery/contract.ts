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
import { reads, writes } from '../../signed-in.ts';

export const EmailDelivery = contract({
  name: 'user',
  /** Each may be refused with 403 `admin-required`, 501 or 503. */
  commands: {
    listMailRelays: reads({ ok: relayListView }),
    setMailRelays: writes({ fields: z.object(relayListFields), ok: relayListView }),
    testMail: writes({ fields: z.object(testFields), ok: testView }),
    listMailQueue: reads({ fields: z.object(queuePageFields), ok: queuePageView }),
    listMailLog: reads({ fields: z.object(logPageFields), ok: logPageView }),
    listMailAudit: reads({ fields: z.object(auditPageFields), ok: auditPageView }),
    retryMail: writes({ fields: z.object(recordFields), ok: z.object({ record: queueRecordView }) }),
    discardMail: writes({ fields: z.object(recordFields) }),
  },
});
