/** Bounds how often an account publishes to a code host (docs/protocol/code-host.md). */
import { z } from 'zod';
import { slice } from '../../../runtime/slice.ts';
import { refuse } from '../../reply.ts';
import { userPart } from '../hooks.ts';
import { signedInTurn } from '../signed-in.ts';
import { CodePublishing } from './contract.ts';

const perMinuteMax = 10;
const minuteMs = 60_000;

/** The times of the attempts within the last minute. */
const publishingSlice = slice<{ readonly atMs: readonly number[] }>({
  name: 'code-host-publishing',
  schema: z.object({ atMs: z.array(z.number()).readonly() }),
  initial: { atMs: [] },
});

const spendPublishing = signedInTurn(CodePublishing.commands.spendPublishing, {
  repeat: 'recorded',
  turn: (turn) => {
    const recent = turn.get(publishingSlice).atMs.filter((atMs) => atMs > turn.nowMs - minuteMs);
    const [first] = recent;
    if (first !== undefined && recent.length >= perMinuteMax) {
      const message = 'This account has published much within a minute. Please wait a moment.';
      return refuse.tooMany(message, first + minuteMs - turn.nowMs);
    }
    turn.set(publishingSlice, { atMs: [...recent, turn.nowMs] });
    return {};
  },
});

export const codePublishing = userPart(CodePublishing, {
  name: 'code-host',
  slices: [publishingSlice],
  commands: { spendPublishing },
});
