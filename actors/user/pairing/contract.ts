/** What administrators do with the pairings of assistant subscriptions (docs/protocol/pairing.md), and the audit event of it. */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import {
  completeFields,
  listView,
  startView,
  statusView,
  subscriptionFields,
  unpairAllFields,
  unpairAllView,
  unpairFields,
  unpairView,
  usageView,
} from '../../pairing/operator-contract.ts';
import { reads, writes } from '../../signed-in.ts';

const pairingEvent = z.enum([
  'assistant-pairing-started',
  'assistant-paired',
  'assistant-unpaired',
  'assistant-all-unpaired',
]);
export type PairingEvent = z.infer<typeof pairingEvent>;

export const UserPairing = contract({
  name: 'user',
  /** Each may be refused with 403 `admin-required`, or as the same command of `PairingAdministration`. */
  commands: {
    getPairing: reads({ fields: z.object(subscriptionFields), ok: statusView }),
    listPairings: reads({ ok: listView }),
    startPairing: writes({ fields: z.object(subscriptionFields), ok: startView }),
    completePairing: writes({ fields: z.object(completeFields), ok: statusView }),
    unpair: writes({ fields: z.object(unpairFields), ok: unpairView }),
    unpairAll: writes({ fields: z.object(unpairAllFields), ok: unpairAllView }),
    getPairingUsage: reads({ fields: z.object(subscriptionFields), ok: usageView }),
  },
  tells: {
    /** Sent by the `pairing` actor in the commit of the event. */
    pairingNoted: z.object({
      event: pairingEvent,
      subscriptionId: z.string().nullable(),
    }),
  },
});
