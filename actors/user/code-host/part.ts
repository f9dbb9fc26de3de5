/** Publishing to a code host (docs/protocol/code-host.md). */
import { userPart } from '../hooks.ts';
import { CodePublishing } from './contract.ts';
import { codeHostCommands, publishingSlice } from './publishing.ts';

export const codePublishing = userPart(CodePublishing, {
  name: 'code-host',
  slices: [publishingSlice],
  commands: codeHostCommands,
});
