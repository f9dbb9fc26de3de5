/**
 * The records of the actor: attempts and credentials, one of each for a subscription. Each is sealed alone under the operator's
 * key, and a MAC covers all of them (docs/decisions/0039-pairings-are-slices-of-one-actor.md).
 *
 * Invariants:
 * - Records that cannot be read are never overwritten. If a record does not open, or if the MAC is wrong, none is read or changed.
 *   Only `clearRecords` removes them, which an administrator has to confirm.
 * - The MAC is written with every change of a record, in the same commit. The empty set has none, so that a node with the right
 *   key can start over.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { type SliceMap, slice, sliceMap } from '../../runtime/slice.ts';
import { type Refused, refuse } from '../reply.ts';
import { Pairing } from './contract.ts';
import { repairReasons, transientFailures } from './operator-contract.ts';
import type { PairingSeal, RecordKind, Records } from './seal.ts';
import { PairingTools } from './tools.ts';

/** Subscriptions that are paired, or have an attempt, at most. */
export const subscriptionsMax = 256;
/** Pending attempts of one administrator, at most. */
export const attemptsPerAdministratorMax = 16;

const attemptSchema = z.object({
  /** SHA-256 of the state, as hex. */
  stateHash: z.string(),
  verifier: z.string(),
  /** The uuid of an administrator, or `byOperator`. */
  startedBy: z.string(),
  /** The end of the attempt or, once it is claimed, of the claim. */
  endsAtMs: z.number(),
  /** The call that has claimed it and exchanges its code. */
  claim: z.string().nullable(),
});
/** An attempt to pair the subscription. */
export type PairingAttempt = z.infer<typeof attemptSchema>;

const credentialSchema = z.object({
  /** Grows with every new access token and every new pairing. */
  serial: z.int(),
  /** The call that has written it. */
  pairedBy: z.string(),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  expiresAtMs: z.number(),
  accountLabel: z.string().nullable(),
  accountId: z.string().nullable(),
  repairReason: z.enum(repairReasons).nullable(),
  /** Refreshes in a row that failed for a temporary reason. */
  trouble: z.object({ failure: z.enum(transientFailures), times: z.int(), retryAtMs: z.number() }).nullable(),
  /** The serial of an access token that was rejected early, until a later one is accepted. */
  doubtedSerial: z.int().nullable(),
});
/** A subscription that is paired. */
export type Credential = z.infer<typeof credentialSchema>;

interface SealedRecord {
  readonly sealed: Uint8Array;
}
const sealedMap = (family: string): SliceMap<SealedRecord> =>
  sliceMap({
    family,
    entriesMax: subscriptionsMax,
    schema: z.object({ sealed: z.instanceof(Uint8Array) }),
  });
const attemptMap = sealedMap('attempt');
const credentialMap = sealedMap('credential');

const macSlice = slice<{ readonly mac: Uint8Array | null }>({
  name: 'mac',
  schema: z.object({ mac: z.instanceof(Uint8Array).nullable() }),
  initial: { mac: null },
});

export const recordSlices = [attemptMap, credentialMap, macSlice];

export interface OpenedRecords {
  readonly attempts: ReadonlyMap<string, PairingAttempt>;
  readonly credentials: ReadonlyMap<string, Credential>;
}

const sealedRecords = (view: View): Records => ({
  attempt: view.entries(attemptMap),
  credential: view.entries(credentialMap),
});

/** One record that does not open makes the whole set unreadable, as the set may have been altered. */
export function openedRecords(view: View): OpenedRecords | 'unavailable' | 'unreadable' {
  const { seal } = view.use(PairingTools);
  if (seal === undefined) return 'unavailable';
  const records = sealedRecords(view);
  const { mac } = view.get(macSlice);
  const isEmpty = records.attempt.size + records.credential.size === 0;
  if (mac === null ? !isEmpty : !seal.isMacOf(records, mac)) return 'unreadable';
  try {
    return {
      attempts: opened(seal, 'attempt', records, attemptSchema),
      credentials: opened(seal, 'credential', records, credentialSchema),
    };
  } catch {
    return 'unreadable';
  }
}

function opened<T>(
  seal: PairingSeal,
  kind: RecordKind,
  records: Records,
  schema: z.ZodType<T>,
): ReadonlyMap<string, T> {
  return new Map(
    [...records[kind]].map(([id, { sealed }]) => [id, schema.parse(JSON.parse(seal.open(kind, id, sealed)))]),
  );
}

export const unavailable = refuse.unavailable(
  'Pairing is not set up on this server: it needs its key, its addresses and PUBLIC_URL.',
  'pairing-unavailable',
);
export const unreadable = refuse.unavailable(
  'The pairings cannot be read: they were sealed under another key, or altered.',
  'pairing-store-unreadable',
);

export function readableRecords(view: View): OpenedRecords | Refused {
  const records = openedRecords(view);
  if (records === 'unavailable') return unavailable;
  return records === 'unreadable' ? unreadable : records;
}

// --- writing: only what was just read ------------------------------------------------------------------------

export function putAttempt(turn: Turn, subscriptionId: string, attempt: PairingAttempt): void {
  put({ turn, kind: 'attempt', map: attemptMap, id: subscriptionId, record: attempt });
}

export function putCredential(turn: Turn, subscriptionId: string, credential: Credential): void {
  put({ turn, kind: 'credential', map: credentialMap, id: subscriptionId, record: credential });
}

function put({
  turn,
  kind,
  map,
  id,
  record,
}: {
  readonly turn: Turn;
  readonly kind: RecordKind;
  readonly map: SliceMap<SealedRecord>;
  readonly id: string;
  readonly record: object;
}): void {
  const { seal } = turn.use(PairingTools);
  if (seal === undefined) throw new TypeError('nothing is written that could not be read');
  turn.setEntry(map, id, { sealed: seal.seal(kind, id, JSON.stringify(record), turn.random) });
  sealSet(turn, seal);
}

export const removeAttempt = (turn: Turn, subscriptionId: string): void =>
  remove(turn, attemptMap, subscriptionId);
export const removeCredential = (turn: Turn, subscriptionId: string): void =>
  remove(turn, credentialMap, subscriptionId);

function remove(turn: Turn, map: SliceMap<SealedRecord>, id: string): void {
  if (turn.entry(map, id) === undefined) return;
  turn.removeEntry(map, id);
  const { seal } = turn.use(PairingTools);
  if (seal !== undefined) sealSet(turn, seal);
}

/** Removes all records, readable or not. Returns the ids of the subscriptions that were paired. */
export function clearRecords(turn: Turn): readonly string[] {
  const { attempt, credential } = sealedRecords(turn);
  const paired = [...credential.keys()];
  for (const id of [...attempt.keys()]) turn.removeEntry(attemptMap, id);
  for (const id of paired) turn.removeEntry(credentialMap, id);
  turn.set(macSlice, { mac: null });
  return paired;
}

function sealSet(turn: Turn, seal: PairingSeal): void {
  const records = sealedRecords(turn);
  const isEmpty = records.attempt.size + records.credential.size === 0;
  turn.set(macSlice, { mac: isEmpty ? null : seal.macOf(records) });
}

/** Removes the expired attempts. Returns the others. */
export function pruneAttempts(turn: Turn, { attempts }: OpenedRecords): ReadonlyMap<string, PairingAttempt> {
  const living = new Map([...attempts].filter(([, { endsAtMs }]) => endsAtMs > turn.nowMs));
  for (const id of attempts.keys()) if (!living.has(id)) removeAttempt(turn, id);
  return living;
}

/** Arms the sweep for the end of the attempt that ends first. */
export function armSweep(turn: Turn, attempts: Iterable<PairingAttempt>): void {
  const endsAtMs = Math.min(...[...attempts].map((each) => each.endsAtMs));
  if (Number.isFinite(endsAtMs)) turn.arm(Pairing.timers.sweep, endsAtMs, null);
}
