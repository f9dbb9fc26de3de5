/** The settings that an account has stored, one entry each. Secrets are sealed. */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { type SliceSource, sliceMap } from '../../../runtime/slice.ts';
import { FileSettings } from '../../files/settings.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { derivedUuid } from '../../identity/uuid-text.ts';
import { profileSlice } from '../profile.ts';
import type { AccountSetting } from './contract.ts';
import { knownSetting, type SettingName } from './known.ts';

const storedSettingSchema = z.object({
  uuid: z.string(),
  /** Null: the setting was set to null, secret or not. */
  value: z.union([z.string(), z.instanceof(Uint8Array), z.null()]),
  createdAtMicros: z.number(),
  updatedAtMicros: z.number(),
});
type StoredSetting = Readonly<z.infer<typeof storedSettingSchema>>;

/** Keyed by name. */
export const settingMap = sliceMap<StoredSetting>({
  family: 'setting',
  entriesMax: 64,
  schema: storedSettingSchema,
});

/** The account has set it, even if to null. */
export const isStored = (state: SliceSource, name: SettingName): boolean =>
  state.entry(settingMap, name) !== undefined;

/** The value for the server's own use, secrets included. The default, if it was never set or is null. */
export function settingValue(view: View, name: SettingName): string | null {
  const value = view.entry(settingMap, name)?.value ?? null;
  if (value === null) return defaultOf(view, name) ?? null;
  return value instanceof Uint8Array ? view.use(UserSecrets).open(sealedFor(view, name), value) : value;
}

/** A secret, for a client that has proven the password. */
export function secretResponse(view: View, name: SettingName): AccountSetting | undefined {
  const stored = view.entry(settingMap, name);
  return stored && toResponse(name, { ...stored, value: settingValue(view, name) });
}

/** What clients see. Undefined: it was never set, and has no default. Never call it for a secret. */
export function settingResponse(view: View, name: SettingName): AccountSetting | undefined {
  const { secret = false } = knownSetting(name);
  if (secret) throw new Error(`the setting ${name} is not to be shown`);
  const stored = view.entry(settingMap, name);
  if (stored !== undefined) return toResponse(name, stored);
  const initial = defaultOf(view, name);
  if (initial === undefined) return undefined;
  const createdAtMicros = view.get(profileSlice).createdAtMs * 1_000;
  const times = { createdAtMicros, updatedAtMicros: createdAtMicros };
  return toResponse(name, { uuid: derivedUuid(`${view.self.id} ${name}`), value: initial, ...times });
}

/** The operator decides how much every account may upload. */
const defaultOf = (view: View, name: SettingName): string | undefined =>
  name === 'FILE_UPLOAD_BYTES_LIMIT' ? uploadLimit(view.use(FileSettings)) : knownSetting(name).default;

/** -1 tells clients that there is no limit. */
const uploadLimit = ({ accountBytesMax }: FileSettings): string =>
  accountBytesMax === 0 ? '-1' : String(accountBytesMax);

function toResponse(
  name: SettingName,
  { uuid, value, createdAtMicros, updatedAtMicros }: StoredSetting,
): AccountSetting {
  if (value instanceof Uint8Array) throw new Error(`the setting ${name} is not to be shown`);
  return { uuid, name, value, createdAt: createdAtMicros, updatedAt: updatedAtMicros, sensitive: false };
}

export function putSetting(turn: Turn, name: SettingName, value: string | null): void {
  const before = turn.entry(settingMap, name);
  turn.setEntry(settingMap, name, {
    uuid: before?.uuid ?? turn.random.uuid(),
    value: value !== null && knownSetting(name).secret === true ? sealed(turn, name, value) : value,
    createdAtMicros: before?.createdAtMicros ?? turn.nowMicros,
    updatedAtMicros: turn.nowMicros,
  });
}

/** Writes an imported setting, with the uuid and times of the other server. */
export function restoreSetting(
  turn: Turn,
  name: SettingName,
  value: string | null,
  about: Omit<StoredSetting, 'value'>,
): void {
  const isSecret = value !== null && knownSetting(name).secret === true;
  turn.setEntry(settingMap, name, { ...about, value: isSecret ? sealed(turn, name, value) : value });
}

export function removeSetting(turn: Turn, name: SettingName): void {
  if (isStored(turn, name)) turn.removeEntry(settingMap, name);
}

function sealed(turn: Turn, name: SettingName, value: string): Uint8Array {
  return turn.use(UserSecrets).seal(sealedFor(turn, name), value, turn.random);
}

const sealedFor = (view: View, name: SettingName) => ({
  userUuid: view.self.id,
  purpose: `setting ${name}`,
});

/** UTF-8 bytes of all other values. */
export function otherSettingBytes(state: SliceSource, except: SettingName): number {
  let bytes = 0;
  for (const [name, { value }] of state.entries(settingMap)) {
    if (name !== except && value !== null) bytes += Buffer.byteLength(value);
  }
  return bytes;
}
