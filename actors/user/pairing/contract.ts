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
import { signedIn } from '../../signed-in.ts';

/** Each may be refused with 403 `admin-required`, or as the same command of `PairingAdministration`. */
const commands = {
  getPairing: signedIn({ access: 'reads', fields: z.object(subscriptionFields), ok: statusView }),
  listPairings: signedIn({ access: 'reads', fields: z.object({}), ok: listView }),
  startPairing: signedIn({ access: 'writes', fields: z.object(subscriptionFields), ok: startView }),
  completePairing: signedIn({ access: 'writes', fields: z.object(completeFields), ok: statusView }),
  unpair: signedIn({ access: 'writes', fields: z.object(unpairFields), ok: unpairView }),
  unpairAll: signedIn({ access: 'writes', fields: z.object(unpairAllFields), ok: unpairAllView }),
  getPairingUsage: signedIn({ access: 'reads', fields: z.object(subscriptionFields), ok: usageView }),
};

const pairingEvent = z.enum([
  'assistant-pairing-started',
  'assistant-paired',
  'assistant-unpaired',
  'assistant-all-unpaired',
]);
export type PairingEvent = z.infer<typeof pairingEvent>;

const tells = {
  /** Sent by the `pairing` actor in the commit of the event. */
  pairingNoted: z.object({
    event: pairingEvent,
    subscriptionId: z.string().nullable(),
  }),
};

export const UserPairing = contract({
  name: 'user',
  commands,
  tells,
});
