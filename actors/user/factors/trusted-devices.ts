/**
 * Trusted devices (docs/protocol/account.md, "Trusted devices"). A browser keeps a token, and gives it at its next sign-ins in
 * place of a second factor, for a month. A change of credentials ends all of them.
 */
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import { type SliceSource, sliceMap } from '../../../runtime/slice.ts';
import { findBySecret, makeSecret, shownOnceFields } from '../../identity/shown-once.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { newestFirst } from '../../times.ts';
import { audit, type EventOrigin } from '../audit/trail.ts';
import { deviceInfo } from '../sessions/device-info.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';
import { Factors } from './contract.ts';

const trustedDeviceSchema = z.object({ ...shownOnceFields, expiresAtMs: z.number() });
type TrustedDevice = Readonly<z.infer<typeof trustedDeviceSchema>>;

/** With more, the one that would end first makes room. */
const trustedDevicesMax = 50;
const labelCharactersMax = 255;

/** Keyed by uuid. */
export const trustedDeviceMap = sliceMap<TrustedDevice>({
  family: 'trusted-device',
  entriesMax: trustedDevicesMax,
  schema: trustedDeviceSchema,
});

const unknown = refuse.notFound('There is no such trusted device.');

/** The device of this token, if it is still trusted. For an unknown user there is no state; the search takes as long. */
export function findTrustedDevice(
  state: (SliceSource & { readonly nowMs: number }) | undefined,
  token: string,
): TrustedDevice | undefined {
  const devices = state?.entries(trustedDeviceMap).values() ?? [];
  const found = findBySecret(devices, token, trustedDevicesMax);
  if (state === undefined) return undefined;
  return found !== undefined && state.nowMs < found.expiresAtMs ? found : undefined;
}

/** True: this is the token of a device that is still trusted, and its use is recorded. */
export function acceptTrustedDevice(turn: Turn, token: string, from: EventOrigin): boolean {
  const found = findTrustedDevice(turn, token);
  if (found === undefined) return false;
  turn.setEntry(trustedDeviceMap, found.uuid, { ...found, lastUsedAtMs: turn.nowMs });
  audit(turn, 'trusted-device-used', from, found.uuid);
  return true;
}

export function distrustAllDevices(turn: Turn): void {
  for (const uuid of turn.entries(trustedDeviceMap).keys()) turn.removeEntry(trustedDeviceMap, uuid);
}

const trustDevice = signedInTurn(Factors.commands.trustDevice, {
  repeat: 'recorded',
  turn: (turn, { label: labelText }, _reads, { session }) => {
    evictIfFull(turn);
    const { secret, secretHash } = makeSecret(turn.random);
    const uuid = turn.random.uuid();
    const label = (labelText?.trim() || deviceInfo(session.userAgent)).slice(0, labelCharactersMax);
    const expiresAtMs = turn.nowMs + turn.use(AccountSettings).trustedDeviceAgeMs;
    const device = { uuid, label, secretHash, createdAtMs: turn.nowMs, lastUsedAtMs: null, expiresAtMs };
    turn.setEntry(trustedDeviceMap, uuid, device);
    audit(turn, 'trusted-device-added', session, uuid);
    const trustedDevice = { uuid, label, token: secret, createdAt: turn.nowMs, expiresAt: expiresAtMs };
    return { trustedDevice };
  },
});

const listTrustedDevices = signedInRead(Factors.commands.listTrustedDevices, (view) => {
  const trusted = newestFirst(view.entries(trustedDeviceMap).values()).filter(
    ({ expiresAtMs }) => view.nowMs < expiresAtMs,
  );
  const trustedDevices = trusted.map(({ uuid, label, createdAtMs, lastUsedAtMs, expiresAtMs }) => ({
    uuid,
    label,
    createdAt: createdAtMs,
    lastUsedAt: lastUsedAtMs,
    expiresAt: expiresAtMs,
  }));
  return { trustedDevices };
});

const distrustDevice = signedInTurn(
  Factors.commands.distrustDevice,
  (turn, { trustedDeviceUuid }, _reads, { session }) => {
    if (turn.entry(trustedDeviceMap, trustedDeviceUuid) === undefined) return unknown;
    turn.removeEntry(trustedDeviceMap, trustedDeviceUuid);
    audit(turn, 'trusted-device-removed', session, trustedDeviceUuid);
    return { message: 'The device is no longer trusted.' };
  },
);

function evictIfFull(turn: Turn): void {
  const devices = [...turn.entries(trustedDeviceMap).values()];
  const expired = devices.filter(({ expiresAtMs }) => turn.nowMs >= expiresAtMs);
  for (const { uuid } of expired) turn.removeEntry(trustedDeviceMap, uuid);
  if (devices.length - expired.length < trustedDevicesMax) return;
  const [first] = devices.filter((device) => !expired.includes(device)).toSorted(byExpiry);
  if (first !== undefined) turn.removeEntry(trustedDeviceMap, first.uuid);
}

const byExpiry = (a: TrustedDevice, b: TrustedDevice): number => a.expiresAtMs - b.expiresAtMs;

export const trustedDeviceCommands = { trustDevice, listTrustedDevices, distrustDevice };
