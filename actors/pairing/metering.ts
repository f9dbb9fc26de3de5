/** Counts the requests to the provider by each pairing. */

import { z } from 'zod';
import { command, type Turn } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import { isRefused } from '../reply.ts';
import { isoTimeOrNull } from '../times.ts';
import { subscriptionIdOf } from './attempts.ts';
import { PairingAdministration } from './operator-contract.ts';
import { readableRecords, subscriptionsMax } from './records.ts';

const count = z.int().nonnegative();
const meteredSchema = z.object({
  requests: count,
  promptTokens: count,
  completionTokens: count,
  sinceMs: z.number().nullable(),
  updatedAtMs: z.number().nullable(),
});
type MeteredUse = z.infer<typeof meteredSchema>;

const nothingYet: MeteredUse = {
  requests: 0,
  promptTokens: 0,
  completionTokens: 0,
  sinceMs: null,
  updatedAtMs: null,
};

export const meteredMap = sliceMap<MeteredUse>({
  family: 'metered',
  entriesMax: subscriptionsMax,
  schema: meteredSchema,
});

type TokenCounts = Pick<MeteredUse, 'promptTokens' | 'completionTokens'>;

/** Counts what a paired subscription has used. */
export function meter(
  turn: Turn,
  subscriptionId: string,
  { promptTokens, completionTokens }: TokenCounts,
): void {
  const before = turn.entry(meteredMap, subscriptionId) ?? nothingYet;
  turn.setEntry(meteredMap, subscriptionId, {
    requests: before.requests + 1,
    promptTokens: sum(before.promptTokens, promptTokens),
    completionTokens: sum(before.completionTokens, completionTokens),
    sinceMs: before.sinceMs ?? turn.nowMs,
    updatedAtMs: turn.nowMs,
  });
}

/** Malformed counts from a provider must not fail the request. */
const sum = (one: number, other: number): number => Math.min(one + other, Number.MAX_SAFE_INTEGER / 2);

export function forgetMetered(turn: Turn, subscriptionId: string): void {
  if (turn.entry(meteredMap, subscriptionId) !== undefined) turn.removeEntry(meteredMap, subscriptionId);
}

export const usage = command(PairingAdministration.commands.usage, {
  creates: true,
  turn: (turn, { subscriptionId: idText }) => {
    const subscriptionId = subscriptionIdOf(idText);
    if (isRefused(subscriptionId)) return subscriptionId;
    const records = readableRecords(turn);
    if (isRefused(records)) return records;
    const { sinceMs, updatedAtMs, ...counted } = turn.entry(meteredMap, subscriptionId) ?? nothingYet;
    return {
      ok: {
        subscriptionId,
        ...counted,
        totalTokens: sum(counted.promptTokens, counted.completionTokens),
        since: isoTimeOrNull(sinceMs),
        updatedAt: isoTimeOrNull(updatedAtMs),
      },
    };
  },
});
