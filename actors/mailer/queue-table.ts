/**
 * The rows of the queue, and their counts.
 *
 *     urgent, ordinary,  ready: may be sent now, first come first served in each
 *     bulk
 *     waiting            its next attempt has a time; shown to administrators as ready
 *     leased             a worker is sending it
 *     dead               nothing more is tried; kept for an administrator
 *     accepted           a relay has it; kept for a while so that nothing queues it again
 *     recalled           its source has stopped it; kept for a while too, as the mail itself may not have arrived yet
 *
 * Only rows of the first six states hold the content of the mail. Dead rows that have expired, or that were recalled too late,
 * do not.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { keyed } from '../../runtime/contract.ts';
import { slice } from '../../runtime/slice.ts';
import { type RowOf, table } from '../../runtime/table.ts';
import { Mailer, type MailFailure, type SealedMail } from './contract.ts';
import { type DeadMail, forgetDead, rememberDead } from './dead.ts';
import { countRecalled, mayRememberRecalled } from './recalled.ts';
import { type MailSource, rulesOf } from './sources.ts';

const mailStates = [
  'urgent',
  'ordinary',
  'bulk',
  'waiting',
  'leased',
  'dead',
  'accepted',
  'recalled',
] as const;
export type MailState = (typeof mailStates)[number];

const readyStates: readonly MailState[] = ['urgent', 'ordinary', 'bulk', 'waiting'];
const over: readonly MailState[] = ['accepted', 'recalled'];
/** Time between two sweeps of rows that need not be remembered any more. */
export const sweepPauseMs = 6 * 3_600_000;

export const mailTable = table({
  name: 'mail',
  columns: {
    mailer: 'text',
    id: 'text',
    /** The position of its last write. */
    position: 'int8',
    state: 'text',
    source: 'text',
    user_uuid: 'text',
    attempts: 'int8',
    created_at: 'int8',
    updated_at: 'int8',
    next_attempt_at: 'int8?',
    lease_ends_at: 'int8?',
    expires_at: 'int8?',
    failure: 'text?',
    /** The relay that has it, or had it last. */
    relay: 'text?',
    /** Parts of the mail may have left this server in the attempt in flight, or in the one during which the mail died. */
    handed_over: 'bool',
    message_id: 'text?',
    /** JSON of the actor that is told of the outcome. */
    listener: 'text?',
    content: 'bytea?',
    size: 'int8',
  },
  key: ['mailer', 'id'],
  order: 'position',
  size: 'size',
  subsets: {
    urgent: { column: 'state', values: ['urgent'], indexed: true },
    ordinary: { column: 'state', values: ['ordinary'], indexed: true },
    bulk: { column: 'state', values: ['bulk'], indexed: true },
    ready: { column: 'state', values: readyStates, indexed: false },
    leased: { column: 'state', values: ['leased'], indexed: false },
    dead: { column: 'state', values: ['dead'], indexed: false },
    over: { column: 'state', values: ['accepted', 'recalled'], indexed: false },
  },
});

type StoredRow = RowOf<typeof mailTable>;
export interface MailRow extends Omit<StoredRow, 'state' | 'source' | 'failure'> {
  readonly state: MailState;
  readonly source: MailSource;
  readonly failure: MailFailure | null;
}

export interface QueueHead {
  /** The last position given. */
  readonly position: number;
  /** Keyed by state. */
  readonly counts: Readonly<Record<MailState, number>>;
  /** The size of the contents of all mails. */
  readonly contentBytes: number;
}

const noCounts = Object.fromEntries(mailStates.map((state) => [state, 0])) as Record<MailState, number>;

export const queueSlice = slice<QueueHead>({
  name: 'queue',
  schema: z.object({
    position: z.int(),
    counts: z
      .partialRecord(z.enum(mailStates), z.int())
      .transform((counts): QueueHead['counts'] => ({ ...noCounts, ...counts })),
    contentBytes: z.int(),
  }),
  initial: { position: 0, counts: noCounts, contentBytes: 0 },
});

export const mailKey = (view: Pick<View, 'self'>, id: string) => ({ mailer: view.self.id, id });

export const asMail = (row: StoredRow | undefined): MailRow | undefined => row as MailRow | undefined;

export const isReady = ({ state }: Pick<MailRow, 'state'>): boolean => readyStates.includes(state);

/** The state in which it waits for a worker. */
export function readyState(source: MailSource): MailState {
  const { isUrgent, isBulk = false } = rulesOf(source);
  if (isUrgent) return 'urgent';
  return isBulk ? 'bulk' : 'ordinary';
}

export function newRow(turn: Turn, mail: SealedMail): MailRow {
  const { ageMaxMs } = rulesOf(mail.source);
  const ends = [mail.expiresAtMs, ageMaxMs === undefined ? undefined : turn.nowMs + ageMaxMs];
  const expiresAtMs = Math.min(...ends.filter((each) => each !== undefined));
  return {
    ...mailKey(turn, mail.id),
    position: 0,
    state: readyState(mail.source),
    source: mail.source,
    user_uuid: mail.userUuid,
    attempts: 0,
    created_at: turn.nowMs,
    updated_at: turn.nowMs,
    next_attempt_at: turn.nowMs,
    lease_ends_at: null,
    expires_at: Number.isFinite(expiresAtMs) ? Math.ceil(expiresAtMs) : null,
    failure: null,
    relay: null,
    handed_over: false,
    message_id: mail.messageId ?? null,
    listener: mail.listener === undefined ? null : JSON.stringify(mail.listener),
    content: Buffer.from(mail.content),
    size: mail.content.byteLength,
  };
}

/** A row in place of a removed mail, so that its id is not queued again. */
export function tombstoneOf(turn: Turn, { id, userUuid }: Pick<SealedMail, 'id' | 'userUuid'>): MailRow {
  const nothing = { id, source: 'other', userUuid, content: new Uint8Array() } as const;
  return { ...newRow(turn, nothing), state: 'recalled' };
}

type CountedMail = Pick<MailRow, 'id' | 'user_uuid' | 'state' | 'size'>;

/** Writes the row in its new state, updates the counts, and arms or disarms its timer. */
export function writeMail(turn: Turn, before: CountedMail | undefined, changed: MailRow): MailRow {
  const isRecalled = changed.state === 'recalled' && before?.state !== 'recalled';
  if (isRecalled && !mayRememberRecalled(turn, changed.user_uuid)) {
    if (before !== undefined) removeMail(turn, before);
    return changed;
  }
  const head = turn.get(queueSlice);
  const content = over.includes(changed.state) ? null : changed.content;
  const size = content?.byteLength ?? 0;
  const row = { ...changed, content, size, position: head.position + 1, updated_at: turn.nowMs };
  turn.put(mailTable, row);
  turn.set(queueSlice, {
    position: row.position,
    counts: counted(counted(head.counts, before?.state, -1), row.state, 1),
    contentBytes: head.contentBytes + size - (before?.size ?? 0),
  });
  armNext(turn, row);
  armSweep(turn, head, row);
  if (isRecalled) countRecalled(turn, row.user_uuid, 1);
  if (before?.state === 'dead') forgetDead(turn, before.user_uuid, before.id);
  if (row.state === 'dead') dropDead(turn, row.user_uuid, rememberDead(turn, row.user_uuid, row));
  return row;
}

/** Removes dead mails of an account. Nobody can try them again, and nothing queues them again. */
export function dropDead(turn: Turn, userUuid: string, mails: readonly DeadMail[]): void {
  for (const each of mails) {
    const dead = { ...each, user_uuid: userUuid, state: 'dead' } as const;
    writeMail(turn, dead, tombstoneOf(turn, { id: each.id, userUuid }));
  }
}

export function removeMail(turn: Turn, { id, user_uuid, state, size }: CountedMail): void {
  if (state === 'dead') forgetDead(turn, user_uuid, id);
  if (state === 'recalled') countRecalled(turn, user_uuid, -1);
  const head = turn.get(queueSlice);
  turn.remove(mailTable, mailKey(turn, id));
  turn.disarm(keyed(Mailer.timers.due, id));
  turn.set(queueSlice, {
    ...head,
    counts: counted(head.counts, state, -1),
    contentBytes: head.contentBytes - size,
  });
}

function counted(counts: QueueHead['counts'], state: MailState | undefined, by: number): QueueHead['counts'] {
  return state === undefined ? counts : { ...counts, [state]: counts[state] + by };
}

/** The sweep is armed together with the first row that it may have to remove. */
function armSweep(turn: Turn, { counts }: QueueHead, { state }: MailRow): void {
  const isFirst = counts.dead + counts.accepted + counts.recalled === 0;
  if (isFirst && (state === 'dead' || over.includes(state))) {
    turn.arm(Mailer.timers.sweep, turn.nowMs + sweepPauseMs, null);
  }
}

function armNext(turn: Turn, { id, state, next_attempt_at, expires_at }: MailRow): void {
  const due = keyed(Mailer.timers.due, id);
  const times = [state === 'waiting' ? next_attempt_at : null, expires_at].filter((each) => each !== null);
  if (isReady({ state }) && times.length > 0) turn.arm(due, Math.min(...times), { id });
  else turn.disarm(due);
}
