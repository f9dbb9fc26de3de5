/**
 * Calendar tokens (docs/protocol/calendar.md, "Calendar tokens"). Each lets a program read the to-dos of its account, and
 * nothing else.
 *
 * Invariants:
 * - Only the account's own state says whether a token exists. So a revoked token opens nothing from that commit on.
 * - A secret is stored as a salt and a scrypt hash, and the hash never leaves the actor.
 */
import { z } from 'zod';
import { sharedRead, type Turn, workflow } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { CalendarTokenHasher, CalendarTokens, ProvenTokens } from '../../identity/calendar-tokens.ts';
import { keyOfUser } from '../../identity/password-hasher.ts';
import { equalInConstantTime } from '../../identity/session-tokens.ts';
import { isRefused, refuse } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import { calendarFeed } from '../feature-flags.ts';
import { isInUse } from '../profile.ts';
import { signedInRead, signedInTurn, signedInWorkflow } from '../signed-in.ts';
import { type TokenResponse, UserCalendar } from './contract.ts';
import { readLabel } from './input.ts';
import { keepSlot, releaseSlots, releaseUnused, takeSlot } from './slots.ts';

const tokensMax = 100;
const secretBytes = 32;
const saltBytes = 16;

const storedSchema = z.object({
  /** The uuid of the token, which also names its slot. */
  uuid: z.string(),
  label: z.string(),
  salt: z.string(),
  slowHash: z.string(),
  createdAtMs: z.number(),
  lastUsedAtMs: z.number().nullable(),
});
type StoredToken = z.infer<typeof storedSchema>;

/** Keyed by uuid. */
export const calendarTokenMap = sliceMap<StoredToken>({
  family: 'calendar-token',
  entriesMax: tokensMax,
  schema: storedSchema,
});

const unknown = refuse.notFound('There is no such calendar token.', 'caldav-token-not-found');
const tooMany = refuse.conflict(
  `There are ${tokensMax} calendar tokens already. Revoke one first.`,
  'caldav-token-limit',
);
const tooManyOfAll = refuse.conflict(
  'This server has no room for another calendar token of this account. Revoke one of them, or ask the operator.',
  'caldav-token-limit',
);

const getCalendarFlags = signedInRead(UserCalendar.commands.getCalendarFlags, (view) => {
  const caldavEnabled = calendarFeed.isOffered(view);
  const allowed = calendarFeed.isTurnedOn(view);
  return { caldavEnabled, allowed, available: caldavEnabled && allowed };
});

const listCalendarTokens = signedInRead(UserCalendar.commands.listCalendarTokens, (view) => {
  const tokens = [...view.entries(calendarTokenMap).values()]
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.uuid < b.uuid ? -1 : 1))
    .map((token) => toResponse(view.self.id, token));
  return { tokens };
});

const makeCalendarToken = signedInWorkflow(
  UserCalendar.commands.makeCalendarToken,
  async (steps, request) => {
    const label = readLabel(request.label);
    const refusedNow = (turn: Turn) =>
      calendarFeed.refusal(turn) ??
      (isRefused(label) ? label : undefined) ??
      (turn.entries(calendarTokenMap).size >= tokensMax ? tooMany : undefined);
    const { secret, salt } = await steps.turn({
      // A repeat of the call gets here what its last turn recorded.
      recorded: true,
      turn: (turn) =>
        refusedNow(turn) ?? {
          secret: turn.random.bytes(secretBytes).toString('base64url'),
          salt: turn.random.bytes(saltBytes).toString('hex'),
        },
    });
    const uuid = await takeSlot(steps, 'token', tooManyOfAll, refusedNow);
    const slowHash = await steps.use(CalendarTokenHasher).hash(secret, salt, keyOfUser(steps.self.id));
    return steps.lastTurn({
      recorded: true,
      turn: (turn, _reads, { session }) => {
        const refused = refusedNow(turn);
        if (refused !== undefined) releaseUnused(turn, 'token', uuid);
        const lost = refused ?? keepSlot(turn, uuid);
        if (lost !== undefined) return lost;
        if (isRefused(label)) return label;
        const made = { uuid, label, salt, slowHash, createdAtMs: turn.nowMs, lastUsedAtMs: null };
        turn.setEntry(calendarTokenMap, uuid, made);
        audit(turn, 'calendar-token-made', session, uuid);
        const token = turn.use(CalendarTokens).mint({ userUuid: turn.self.id, tokenUuid: uuid, secret });
        return { token: { ...toResponse(turn.self.id, made), token } };
      },
    });
  },
);

const revokeCalendarToken = signedInTurn(UserCalendar.commands.revokeCalendarToken, {
  repeat: 'recorded',
  turn: (turn, { uuid: input }, _reads, { session }) => {
    const uuid = input.toLowerCase();
    if (turn.entry(calendarTokenMap, uuid) === undefined) return unknown;
    revoke(turn, [uuid]);
    audit(turn, 'calendar-token-revoked', session, uuid);
    return { revoked: true as const };
  },
});

const revokeCalendarTokens = signedInTurn(UserCalendar.commands.revokeCalendarTokens, {
  repeat: 'recorded',
  turn: (turn, _asked, _reads, { session }) => {
    const count = revokeAllCalendarTokens(turn);
    if (count > 0) audit(turn, 'calendar-tokens-revoked', session);
    return { revoked: true as const, count };
  },
});

/** Returns how many there were. */
export function revokeAllCalendarTokens(turn: Turn): number {
  const uuids = [...turn.entries(calendarTokenMap).keys()];
  revoke(turn, uuids);
  return uuids.length;
}

function revoke(turn: Turn, uuids: readonly string[]): void {
  for (const uuid of uuids) turn.removeEntry(calendarTokenMap, uuid);
  releaseSlots(turn, 'token', uuids);
}

const calendarTokenSalt = sharedRead(UserCalendar.commands.calendarTokenSalt, (view, { tokenUuid }) => ({
  salt: view.entry(calendarTokenMap, tokenUuid)?.salt ?? null,
}));

const proveCalendarToken = workflow(
  UserCalendar.commands.proveCalendarToken,
  async (steps, { tokenUuid, secretHash, slowHash }) => {
    const proven = await steps.turn({
      turn: (turn) => {
        const token = turn.entry(calendarTokenMap, tokenUuid);
        if (token === undefined || !equalInConstantTime(slowHash, token.slowHash) || !isInUse(turn))
          return false;
        turn.setEntry(calendarTokenMap, tokenUuid, { ...token, lastUsedAtMs: turn.nowMs });
        return true;
      },
    });
    if (proven) steps.use(ProvenTokens).remember(tokenUuid, secretHash, steps.nowMs);
    return { proven };
  },
);

function toResponse(
  userUuid: string,
  { uuid, label, createdAtMs, lastUsedAtMs }: StoredToken,
): TokenResponse {
  const times = { createdAt: createdAtMs, lastUsedAt: lastUsedAtMs };
  return { uuid, userUuid, label, scope: 'calendar-read', ...times };
}

export const calendarTokenCommands = {
  getCalendarFlags,
  listCalendarTokens,
  makeCalendarToken,
  revokeCalendarToken,
  revokeCalendarTokens,
  calendarTokenSalt,
  proveCalendarToken,
};
