/**
 * The audit trail of an account (docs/protocol/account.md, "Audit trail"; the reasons for its form are in
 * docs/decisions/0024-an-audit-trail-in-the-actor.md).
 *
 * Invariants:
 * - An event is written in the turn, and so in the commit, of what it tells. Neither is ever there without the other.
 * - No command changes or removes an event. The oldest page goes when there are too many. A timer removes what is too old. The
 *   deletion of the account removes everything.
 * - The trail costs one slice, which holds at most one page. A full page becomes a row.
 */
import { z } from 'zod';
import { type ClockedView, type KeysResult, keys, type Turn, type View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { table } from '../../../runtime/table.ts';
import type { Device } from '../../identity/session.ts';
import { AccountSettings } from '../../settings.ts';
import { deviceInfo } from '../sessions/device-info.ts';
import { settingValue } from '../settings/stored.ts';
import { type AuditEvent, type AuditEventName, AuditTrail, auditEventSchema } from './contract.ts';

/** Full pages of audit trails. The slot of the oldest page is written next. */
export const auditPageTable = table({
  name: 'audit_page',
  columns: {
    user_uuid: 'uuid',
    slot: 'int8',
    /** The events as JSON, oldest first. */
    events: 'text',
  },
  key: ['user_uuid', 'slot'],
});

/** Small, as the page is in memory while the account is in use. */
export const eventsPerPage = 8;
export const auditPagesMax = 128;

/** Within this time, a repeat from the same network is only counted. Otherwise repeats of one event could push out all others. */
const sameEventMs = 3_600_000;
/** Anyone can cause these without end. At one event an hour they would push out all others within weeks. */
const sameFailureMs = 86_400_000;
const deviceCharactersMax = 128;
/** The least time between two trims. An account may be in use every day. */
const trimPauseMs = 86_400_000;

const trailSchema = z.object({
  next: z.int(),
  /** How many pages have become rows. */
  pages: z.int(),
  /** The page that is not full, oldest first. */
  recent: z.array(auditEventSchema).readonly(),
  /** The timer that removes old events is armed. */
  trimming: z.boolean(),
});
type Trail = Readonly<z.infer<typeof trailSchema>>;

export const auditSlice = slice<Trail>({
  name: 'audit',
  schema: trailSchema,
  initial: { next: 1, pages: 0, recent: [], trimming: false },
});

/** Where something was done: the device and address of a session or a request. */
export type EventOrigin = Pick<Device, 'userAgent' | 'ipAddress'>;

/** Call in the turn of the event itself. Without `from`, no device of the user took part. */
export function audit(
  turn: Turn,
  event: AuditEventName,
  from: EventOrigin | null = null,
  about?: string,
): void {
  const trail = turn.get(auditSlice);
  const at = { firstAtMs: turn.nowMs, lastAtMs: turn.nowMs };
  const happened: AuditEvent = {
    number: trail.next,
    event,
    times: 1,
    ...at,
    ...originFields(turn, from),
    about: about ?? null,
  };
  const repeated = trail.recent.find((each) => isRepeat(each, happened));
  const added =
    repeated === undefined
      ? { ...trail, next: trail.next + 1, recent: [...trail.recent, happened] }
      : {
          ...trail,
          recent: trail.recent.map((each) => (each === repeated ? again(each, turn.nowMs) : each)),
        };
  if (!trail.trimming) turn.arm(AuditTrail.timers.trimAuditTrail, turn.nowMs + ageMsOf(turn), null);
  turn.set(auditSlice, { ...turnPage(turn, added), trimming: true });
}

/** The rows that a reader of the whole trail needs. */
export const auditPages = (view: View) => ({
  pages: keys(auditPageTable, slotKeys(view)),
});

export interface AuditPages {
  readonly pages: KeysResult<typeof auditPageTable>;
}

/** Events that are not too old and have a number below `before`, the newest first. */
export function readTrail(
  view: ClockedView,
  { pages }: AuditPages,
  { before, limit }: { readonly before: number; readonly limit: number },
): { readonly events: readonly AuditEvent[]; readonly before: number | null } {
  const stored = slotKeys(view).flatMap((key) => eventsOf(pages.get(key)?.events));
  // A page may have become a row since the slice was read.
  const all = new Map([...stored, ...view.get(auditSlice).recent].map((each) => [each.number, each]));
  const cutMs = view.nowMs - ageMsOf(view);
  const matching = [...all.values()]
    .filter(({ number, lastAtMs }) => number < before && lastAtMs > cutMs)
    .toSorted((a, b) => b.number - a.number);
  const events = matching.slice(0, limit);
  return { events, before: matching.length > limit ? (events.at(-1)?.number ?? null) : null };
}

/** Removes what is too old, and comes again while anything is left. */
export function trimAuditTrail(turn: Turn, { pages }: AuditPages): void {
  const trail = turn.get(auditSlice);
  const cutMs = turn.nowMs - ageMsOf(turn);
  const recent = trail.recent.filter(({ lastAtMs }) => lastAtMs > cutMs);
  const left = [...recent];
  for (const key of slotKeys(turn)) {
    const events = eventsOf(pages.get(key)?.events);
    if (events.some(({ lastAtMs }) => lastAtMs > cutMs)) left.push(...events);
    else if (events.length > 0) turn.remove(auditPageTable, key);
  }
  const [oldest] = left.map(({ lastAtMs }) => lastAtMs).toSorted((a, b) => a - b);
  turn.set(auditSlice, { ...trail, recent, trimming: oldest !== undefined });
  if (oldest === undefined) return;
  turn.arm(
    AuditTrail.timers.trimAuditTrail,
    Math.max(oldest + ageMsOf(turn), turn.nowMs + trimPauseMs),
    null,
  );
}

/** In the commit that deletes the account. */
export function removeAuditTrail(turn: Turn): void {
  for (const key of slotKeys(turn)) turn.remove(auditPageTable, key);
  turn.set(auditSlice, auditSlice.initial);
  turn.disarm(AuditTrail.timers.trimAuditTrail);
}

/** Writes a full page as a row. If all slots are taken, it replaces the oldest. */
function turnPage(turn: Turn, trail: Trail): Trail {
  if (trail.recent.length < eventsPerPage) return trail;
  const slot = trail.pages % auditPagesMax;
  turn.put(auditPageTable, { user_uuid: turn.self.id, slot, events: JSON.stringify(trail.recent) });
  return { ...trail, pages: trail.pages + 1, recent: [] };
}

function slotKeys(view: View): { user_uuid: string; slot: number }[] {
  const used = Math.min(view.get(auditSlice).pages, auditPagesMax);
  return Array.from({ length: used }, (_, slot) => ({ user_uuid: view.self.id, slot }));
}

const eventsOf = (json: string | undefined): readonly AuditEvent[] =>
  json === undefined ? [] : z.array(auditEventSchema).parse(JSON.parse(json));

function isRepeat(earlier: AuditEvent, later: AuditEvent): boolean {
  if (earlier.event !== later.event || earlier.about !== later.about) return false;
  const sinceMs = later.lastAtMs - earlier.firstAtMs;
  // Anyone can cause these, from any number of networks.
  if (earlier.event === 'sign-in-failed') return sinceMs < sameFailureMs;
  return sinceMs < sameEventMs && earlier.device === later.device && earlier.ipAddress === later.ipAddress;
}

const again = (event: AuditEvent, nowMs: number): AuditEvent => ({
  ...event,
  times: event.times + 1,
  lastAtMs: nowMs,
});

function originFields(view: View, from: EventOrigin | null): Pick<AuditEvent, 'device' | 'ipAddress'> {
  if (from === null) return { device: null, ipAddress: null };
  const isLogged = from.userAgent !== null && settingValue(view, 'LOG_SESSION_USER_AGENT') === 'enabled';
  const device = isLogged ? deviceInfo(from.userAgent).slice(0, deviceCharactersMax) : null;
  return { device, ipAddress: from.ipAddress };
}

const ageMsOf = (view: View): number => view.use(AccountSettings).auditAgeMs;
