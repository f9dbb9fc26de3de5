/**
 * App passwords (docs/protocol/account.md, "App passwords"). A program gives one at sign-in in place of a second factor, but
 * never in place of the account's password.
 */
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import { type SliceSource, sliceMap } from '../../../runtime/slice.ts';
import { findBySecret, makeSecret, shownOnceFields } from '../../identity/shown-once.ts';
import { refuse } from '../../reply.ts';
import { isoTime, isoTimeOrNull, newestFirst } from '../../times.ts';
import { audit, type EventOrigin } from '../audit/trail.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';
import { Factors } from './contract.ts';

const appPasswordSchema = z.object(shownOnceFields);
type AppPassword = Readonly<z.infer<typeof appPasswordSchema>>;

const appPasswordsMax = 100;

/** Keyed by uuid. */
export const appPasswordMap = sliceMap<AppPassword>({
  family: 'app-password',
  entriesMax: appPasswordsMax,
  schema: appPasswordSchema,
});

const labelMissing = refuse.badRequest('Give the app password a name.');
const tooMany = refuse.badRequest(`There are ${appPasswordsMax} app passwords already. Delete one first.`);
const unknown = refuse.notFound('There is no such app password.');

/** For an unknown user there is no state. The search takes as long. */
export const findAppPassword = (state: SliceSource | undefined, secret: string): AppPassword | undefined =>
  findBySecret(state?.entries(appPasswordMap).values() ?? [], secret, appPasswordsMax);

/** True: this is one of the account's app passwords, and its use is recorded. */
export function acceptAppPassword(turn: Turn, secret: string, from: EventOrigin): boolean {
  const found = findAppPassword(turn, secret);
  if (found === undefined) return false;
  turn.setEntry(appPasswordMap, found.uuid, { ...found, lastUsedAtMs: turn.nowMs });
  audit(turn, 'app-password-used', from, found.uuid);
  return true;
}

const makeAppPassword = signedInTurn(Factors.commands.makeAppPassword, {
  repeat: 'recorded',
  turn: (turn, { label: labelText }, _reads, { session }) => {
    const label = labelText.trim().slice(0, 255);
    if (label === '') return labelMissing;
    if (turn.entries(appPasswordMap).size >= appPasswordsMax) return tooMany;
    const { secret, secretHash } = makeSecret(turn.random);
    const uuid = turn.random.uuid();
    turn.setEntry(appPasswordMap, uuid, {
      uuid,
      label,
      secretHash,
      createdAtMs: turn.nowMs,
      lastUsedAtMs: null,
    });
    audit(turn, 'app-password-made', session, uuid);
    return { appPassword: { uuid, label, createdAt: isoTime(turn.nowMs) }, password: secret };
  },
});

const listAppPasswords = signedInRead(Factors.commands.listAppPasswords, (view) => {
  const appPasswords = newestFirst(view.entries(appPasswordMap).values()).map(
    ({ uuid, label, createdAtMs, lastUsedAtMs }) => ({
      uuid,
      label,
      createdAt: isoTime(createdAtMs),
      lastUsedAt: isoTimeOrNull(lastUsedAtMs),
    }),
  );
  return { appPasswords };
});

const deleteAppPassword = signedInTurn(
  Factors.commands.deleteAppPassword,
  (turn, { appPasswordUuid }, _reads, { session }) => {
    if (turn.entry(appPasswordMap, appPasswordUuid) === undefined) return unknown;
    turn.removeEntry(appPasswordMap, appPasswordUuid);
    audit(turn, 'app-password-deleted', session, appPasswordUuid);
    return { message: 'The app password is deleted.' };
  },
);

export const appPasswordCommands = { makeAppPassword, listAppPasswords, deleteAppPassword };
