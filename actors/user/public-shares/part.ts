/** The public shares of an account (docs/protocol/public-shares.md). */
import { ShareIds } from '../../identity/share-ids.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { PublicShares } from './contract.ts';
import { endSomeShares, publicShareCommands, publicShareMap, publicShareTells } from './public-shares.ts';

/** Each is a tell. */
const endedAtOnce = 100;

export const publicShares = userPart(PublicShares, {
  name: 'public-shares',
  uses: [AccountSettings, ShareIds],
  slices: [publicShareMap],
  commands: publicShareCommands,
  tells: publicShareTells,
  on: {
    purgeFirst: { turn: (turn) => ({ left: endSomeShares(turn, endedAtOnce) ? 'more' : 'nothing' }) },
  },
});
