/**
 * How an item moves from one collection, its *source*, to another, its *target* (decision 35). It has one owning collection
 * at any moment: that of the row of its uuid with the greatest transfer version (the column `hop`).
 *
 *     source   depart     the departure is durable: which items at which transfer version, and a timer; their rows stay
 *     target   arrive     rights, fields and room looked at; the row is written with the next transfer version: the item is
 *                         there now
 *     source   conclude   what has arrived becomes a forwarding tombstone; what has not takes the next transfer version
 *                         here, which ends its departure
 *
 * - (uuid, hop) is unique on the server: of `arrive` and of what ends a departure here, one commit is rejected. No clock
 *   decides, and no answer has to.
 * - A key keeps others out only for as long as a row holds it. So a row keeps its transfer version, and is neither written with
 *   the next one nor replaced by an arrival, before every other row of the item is a forwarding tombstone. A caller that has
 *   yet to conclude then finds the transfer version that it would take taken. What arrives is first looked for at its source,
 *   so that an arrival that comes after all that writes nothing.
 * - The caller of these steps may die after each. The timer then concludes without knowing what the target has done: it
 *   takes the next transfer version. Where that is taken, the commit is rejected, the row in the way is shown, and the turn
 *   that runs again leaves a forwarding tombstone instead. Nothing repeats `arrive`: the client has no answer and sends the
 *   item again.
 * - A save of a departing item takes the next transfer version too, and so either comes first or finds the item gone.
 * - Between the second and the third step there are two rows. A reader of both gives the newer one.
 */
import { z } from 'zod';
import { type KeysPlan, type KeysResult, keys, type Turn, type View } from '../../../runtime/command.ts';
import { keyed, type MessageShape } from '../../../runtime/contract.ts';
import { OverloadedError } from '../../../runtime/errors.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { advance, type Head, head } from '../head.ts';
import {
  forwardingTombstoneOf,
  type ItemRow,
  isForwardingTombstone,
  item,
  transferVersionOf,
} from '../item.ts';
import { isWhole } from '../save.ts';
import { ItemSettings } from '../settings.ts';
import { isAwaited, type Locations, locationsPlan, successorOf } from './location-lookup.ts';

const departuresMax = 100;
/** Longer than any call is waited for. */
const concludedAfterMs = 30_000;
/** Until others that have yet to conclude are looked at again. */
const awaitedPauseMs = 5_000;

/** What left together, by the id of the departure. */
export interface Departure {
  readonly to: string;
  /** Out of a vault, to their owner. */
  readonly isRemoval?: boolean | undefined;
  /** The transfer version that each had. */
  readonly hops: Readonly<Record<string, number>>;
}

export const departureMap = sliceMap<Departure>({
  family: 'departure',
  format: 1,
  entriesMax: departuresMax,
  schema: z.object({
    to: z.string(),
    isRemoval: z.boolean().optional(),
    hops: z.record(z.string(), z.int()),
  }),
});

export const concludePayload = z.object({ id: z.string() });
export type ConcludeTimer = MessageShape<z.infer<typeof concludePayload>>;

/** The items of these rows, which the turn has read, depart. Returns the id of the departure. */
export function depart(
  turn: Turn,
  { to, isRemoval }: Pick<Departure, 'to' | 'isRemoval'>,
  rows: readonly ItemRow[],
  timer: ConcludeTimer,
): string {
  if (turn.entries(departureMap).size >= departuresMax) {
    throw new OverloadedError('too many items of this collection are on their way');
  }
  const id = turn.random.uuid();
  const hops = Object.fromEntries(rows.map((row) => [row.uuid, transferVersionOf(row)]));
  turn.setEntry(departureMap, id, { to, ...(isRemoval && { isRemoval }), hops });
  turn.arm(keyed(timer, id), turn.nowMs + concludedAfterMs, { id });
  return id;
}

/** The transfer versions of what may be on its way, by uuid. */
export function departingTransferVersions(view: View): ReadonlyMap<string, number> {
  const departures = view.entries(departureMap);
  if (departures.size === 0) return nothing;
  const greatest = new Map<string, number>();
  for (const { hops } of departures.values()) {
    for (const [uuid, each] of Object.entries(hops))
      greatest.set(uuid, Math.max(each, greatest.get(uuid) ?? 0));
  }
  return greatest;
}

const nothing: ReadonlyMap<string, number> = new Map();

/** The committed row of another collection with the next transfer version, once a commit was rejected for it. */
export function arrivedAt(
  view: View,
  row: Pick<ItemRow, 'uuid' | 'collection' | 'hop'>,
): ItemRow | undefined {
  const taken = view.conflicting(item, { uuid: row.uuid, hop: transferVersionOf(row) + 1 });
  return taken?.collection === row.collection ? undefined : taken;
}

export interface ConcludeReads extends Locations {
  readonly gone: KeysResult<typeof item>;
  readonly left: KeysResult<typeof item>;
}
type ConcludePlans = {
  readonly gone: KeysPlan<typeof item>;
  readonly left: KeysPlan<typeof item>;
} & ReturnType<typeof locationsPlan>;

/** What has arrived is read without ciphertext: a forwarding tombstone has none. */
export function concludePlan(view: View, id: string, arrived: readonly string[] = []): ConcludePlans {
  const collection = view.self.id;
  const uuids = Object.keys(view.entry(departureMap, id)?.hops ?? {});
  const left = uuids.filter((uuid) => !arrived.includes(uuid));
  const keysOf = (of: readonly string[]) => of.map((uuid) => ({ collection, uuid }));
  return {
    gone: keys(item, keysOf(uuids.filter((uuid) => arrived.includes(uuid))), 0),
    left: keys(item, keysOf(left), view.use(ItemSettings).turnLimits.bytes),
    ...locationsPlan(left),
  };
}

/**
 * Ends a departure, as far as one turn reads what is left of it; the timer takes care of the rest. Returns the rows that
 * have become forwarding tombstones.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the cases of a departure are decided in one order.
export function conclude({
  turn,
  id,
  arrived,
  reads,
  timer,
}: {
  readonly turn: Turn;
  readonly id: string;
  readonly arrived: readonly string[];
  readonly reads: ConcludeReads;
  readonly timer: ConcludeTimer;
}): readonly ItemRow[] {
  const departure = turn.entry(departureMap, id);
  if (departure === undefined) return [];
  const before = turn.get(head);
  let after = before;
  const left: Record<string, number> = {};
  let pauseMs = awaitedPauseMs;
  const tombstones: ItemRow[] = [];
  for (const [uuid, hops] of Object.entries(departure.hops)) {
    const isGone = arrived.includes(uuid);
    const row = (isGone ? reads.gone : reads.left).get({ collection: turn.self.id, uuid });
    if (row === undefined || isForwardingTombstone(row) || transferVersionOf(row) !== hops) continue;
    const target = isGone ? departure.to : (arrivedAt(turn, row) ?? successorOf(row, reads))?.collection;
    if (target === undefined && (!isWhole(row) || isAwaited(row, reads))) {
      left[uuid] = hops;
      if (!isWhole(row)) pauseMs = 0;
      continue;
    }
    const next =
      target === undefined ? stays(row, after) : forwardingTombstoneOf(row, target, after.position + 1);
    turn.put(item, next);
    after = advance(after, next, row);
    if (target !== undefined) tombstones.push(next);
  }
  if (after !== before) turn.set(head, after);
  if (Object.keys(left).length > 0) {
    turn.setEntry(departureMap, id, { ...departure, hops: left });
    turn.arm(keyed(timer, id), turn.nowMs + pauseMs, { id });
    return tombstones;
  }
  turn.removeEntry(departureMap, id);
  turn.disarm(keyed(timer, id));
  return tombstones;
}

/** The same version of the same item, which nothing else may be from here on. */
const stays = (row: ItemRow, { position }: Head): ItemRow => ({
  ...row,
  position: position + 1,
  hop: transferVersionOf(row) + 1,
});
