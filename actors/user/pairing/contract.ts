/** What administrators ask about pairings (docs/protocol/pairing.md), and what their audit trails say of it. */
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

export const UserPairing = contract({
  name: 'user',
  /** Each may be refused with 403 `admin-required`, and as `PairingAdministration` says. */
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
      event: z.enum([
        'assistant-pairing-started',
        'assistant-paired',
        'assistant-unpaired',
        'assistant-all-unpaired',
      ]),
      subscriptionId: z.string().nullable(),
    }),
  },
});
