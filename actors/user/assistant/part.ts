/** What an account may ask of the assistant (docs/protocol/assistant.md). */
import { AssistantPolicy } from '../../assistant/policy.ts';
import { userPart } from '../hooks.ts';
import { AssistantBudget } from './contract.ts';
import { assistantCommands, assistantSlice } from './streams.ts';

export const assistantBudget = userPart(AssistantBudget, {
  name: 'assistant',
  uses: [AssistantPolicy],
  slices: [assistantSlice],
  commands: assistantCommands,
});
