/** The tokens by which bridges act for the user (docs/protocol/account.md, "Bridge tokens"). */
import { BridgeTokens } from '../../identity/bridge-tokens.ts';
import { userPart } from '../hooks.ts';
import { bridgeTokenCommands, bridgeTokenMap, endAllBridgeTokens } from './bridge-tokens.ts';
import { Bridges } from './contract.ts';

export const bridges = userPart(Bridges, {
  name: 'bridges',
  uses: [BridgeTokens],
  slices: [bridgeTokenMap],
  commands: bridgeTokenCommands,
  on: { credentialsChanged: endAllBridgeTokens },
});
