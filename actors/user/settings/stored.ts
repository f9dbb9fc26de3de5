/** The settings an account has stored, one entry each. Secrets are sealed. */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { type State, sliceMap } from '../../../runtime/slice.ts';
import { FileSettings } from '../../files/settings.ts';
import { derivedUuid } from '../../identity/derived-uuid.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { profileSlice } from '../profile.ts';
import { knownSetting, type SettingName } from './known.ts';
import type { Setting } from './schema.ts';

interface StoredSetting {
  readonly uuid: string;
  /** Null in a setting that was set to null, secret or not. */
  readonly value: string | Uint8Array | null;
  readonly createdAtMicros: number;
  readonly updatedAtMicros: number;
}

/** By name. */
export const settingMap = sliceMap<StoredSetting>({
  family: 'setting',
  format: 1,
  entriesMax: 64,
  schema: z.object({
    uuid: z.string(),
    value: z.union([z.string(), z.instanceof(Uint8Array), z.null()]),
    createdAtMicros: z.number(),
    updatedAtMicros: z.number(),
  }),
});

/** Whether the account has stored it itself. */
export const isStored = (state: State, name: SettingName): boolean =>
  state.entry(settingMap, name) !== undefined;

/** What it holds, secrets included: for the server's own use. The default if it was never set, or set to null. */
export function settingValue(view: View, name: SettingName): string | null {
  const value = view.entry(settingMap, name)?.value ?? null;
  if (value === null) return defaultOf(view, name) ?? null;
  return value instanceof Uint8Array ? view.use(UserSecrets).open(sealedFor(view, name), value) : value;
}

/** A secret, as shown to clients that proved the password. */
export function revealedSetting(view: View, name: SettingName): Setting | undefined {
  const stored = view.entry(settingMap, name);
  return stored && shown(name, { ...stored, value: settingValue(view, name) });
}

/**
 * What a client is shown. Undefined for what was never set and has no default. Must not be called for
 * secrets.
 */
export function shownSetting(view: View, name: SettingName): Setting | undefined {
  const { secret = false } = knownSetting(name);
  if (secret) throw new Error(`the setting ${name} is not to be shown`);
  const stored = view.entry(settingMap, name);
  if (stored !== undefined) return shown(name, stored);
  const initial = defaultOf(view, name);
  if (initial === undefined) return undefined;
  const createdAtMicros = view.get(profileSlice).createdAtMs * 1_000;
  const times = { createdAtMicros, updatedAtMicros: createdAtMicros };
  return shown(name, { uuid: derivedUuid(`${view.self.id} ${name}`), value: initial, ...times });
}

/** What every account may upload is the operator's to say. */
const defaultOf = (view: View, name: SettingName): string | undefined =>
  name === 'FILE_UPLOAD_BYTES_LIMIT' ? uploadLimit(view.use(FileSettings)) : knownSetting(name).default;

/** As clients read it. */
const uploadLimit = ({ accountBytesMax }: FileSettings): string =>
  accountBytesMax === 0 ? '-1' : String(accountBytesMax);

function shown(name: SettingName, { uuid, value, createdAtMicros, updatedAtMicros }: StoredSetting): Setting {
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

/** With a uuid and times that it has had elsewhere. */
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

/** UTF-8 bytes of all values but this one. */
export function otherSettingBytes(state: State, except: SettingName): number {
  let bytes = 0;
  for (const [name, { value }] of state.entries(settingMap)) {
    if (name !== except && value !== null) bytes += Buffer.byteLength(value);
  }
  return bytes;
}
