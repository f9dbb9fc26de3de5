/** The `pairing` kind: the accounts at the provider of the assistant that administrators have paired this server with. */
import { kindOf } from '../../runtime/kind.ts';
import { AssistantPolicy } from '../assistant/policy.ts';
import { start, sweep } from './attempts.ts';
import { callback, complete } from './complete.ts';
import { Pairing } from './contract.ts';
import { meteredMap, usage } from './metering.ts';
import { recordSlices } from './records.ts';
import { refreshPairing, reportUse, use } from './refresh.ts';
import { listPairings, status } from './status.ts';
import { PairingTools } from './tools.ts';
import { unpair, unpairAll } from './unpair.ts';
import { RefreshWaits } from './waiting.ts';

/** The commands of `operator-contract.ts`. */
const operatorCommands = { status, list: listPairings, start, complete, unpair, unpairAll, usage };

export const pairing = kindOf(Pairing, {
  uses: [AssistantPolicy, PairingTools, RefreshWaits],
  slices: [...recordSlices, meteredMap],
  tables: [],
  commands: {
    ...operatorCommands,
    callback,
    use,
    reportUse,
  },
  tells: {},
  timers: { sweep },
  jobs: { refresh: refreshPairing },
});
