/** Gives an account the subscription of a conformance run (docs/protocol/account.md, "Conformance runs"). */
import { command } from '../../../runtime/command.ts';
import { AccountSettings } from '../../settings.ts';
import { isActive } from '../profile.ts';
import { putSetting } from '../settings/stored.ts';
import { Subscription } from './contract.ts';
import { cancelInvites } from './invites.ts';
import { premiumSlice } from './own-subscription.ts';

/** For a run that names no end. */
const usualMicros = 365 * 86_400_000_000;

export const activatePremium = command({
  ...Subscription.commands.activatePremium,
  turn: (turn, { subscriptionId, planName, endsAtMicros, uploadBytesLimit, cancelPrevious }) => {
    if (!isActive(turn) || !turn.use(AccountSettings).endToEndTesting) return { activated: false };
    if (cancelPrevious) cancelInvites(turn);
    const sinceMicros = turn.nowMicros;
    const endMicros = endsAtMicros ?? sinceMicros + usualMicros;
    turn.set(premiumSlice, { subscriptionId, planName, endsAtMicros: endMicros, sinceMicros });
    putSetting(turn, 'FILE_UPLOAD_BYTES_LIMIT', String(uploadBytesLimit));
    return { activated: true };
  },
});
