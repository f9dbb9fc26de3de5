/**
 * The vocabulary of settings. A module declares its settings in a file beside it (such as `actors/settings.ts`). A declaration
 * has the name in the environment, unit, bounds, default and text. Its position among the declarations is its position in the
 * program. The type of the values (`SettingsOf`), their defaults (`defaultsOf`) and the reference for operators all come from
 * the declaration.
 *
 * The default is written as an operator would write it, and is read like any value. Whole seconds of an operator are
 * milliseconds in the program, and mebibytes are bytes.
 *
 * Such a file imports nothing heavy, because every command of the command line loads all of them.
 */

export interface Setting<T = unknown> {
  /** The name in the environment. */
  readonly name: string;
  readonly description: string;
  /** The heading under which the reference describes it. */
  readonly section: string;
  readonly unit: string;
  /** The allowed values, in words. Empty if anything is allowed. */
  readonly bounds: string;
  /** The value if the variable is absent or empty. */
  readonly default: T;
  /** The default as readers see it. */
  readonly defaultText: string;
  /** @throws WrongValue */
  readonly parse: (text: string) => Exclude<T, undefined>;
  /** Never shown, and kept apart from settings that are not secret. It may also be in a file that `<name>_FILE` names. */
  readonly isSecret: boolean;
  /** All nodes of a cluster must have the same value. */
  readonly isShared: boolean;
}

/** A value that operators cannot choose, but that is among the settings so that tests can set it. */
export interface FixedSetting<T = unknown> {
  readonly fixed: T;
}

export interface Declarations {
  readonly [key: string]: Setting | FixedSetting | Declarations;
}

/** The values of declarations, in the same shape. */
export type SettingsOf<D> = {
  readonly [Key in keyof D]: D[Key] extends Setting<infer T>
    ? T
    : D[Key] extends FixedSetting<infer T>
      ? T
      : SettingsOf<D[Key]>;
};

/** Settings without absent values, because something else has filled the gaps that the operator left. */
export type Complete<Settings> = { readonly [Key in keyof Settings]: Exclude<Settings[Key], undefined> };

/** A predicate about the value that follows its name: "is below 3". */
export class WrongValue extends Error {}

// --- declaring -----------------------------------------------------------------------------------------------

interface SettingDeclaration {
  readonly name: string;
  readonly description: string;
  /** The default as an operator would write it. A setting without one may be absent. */
  readonly default?: string | number | boolean;
  /** The default as readers see it, if it is not a plain value. */
  readonly defaultText?: string;
  readonly unit?: string;
  readonly bounds?: string;
}

type ValueOf<T, D extends SettingDeclaration> = D extends { readonly default: string | number | boolean }
  ? T
  : T | undefined;

/** Declares a form of value that the functions below do not have. */
export function setting<T, D extends SettingDeclaration>(
  parse: (text: string) => T,
  declared: D,
): Setting<ValueOf<T, D>> {
  const { default: byDefault, unit = '', bounds = '' } = declared;
  const { defaultText = byDefault === undefined || byDefault === '' ? 'none' : `\`${byDefault}\`` } =
    declared;
  const { name, description } = declared;
  return {
    name,
    description,
    section: '',
    unit,
    bounds,
    defaultText,
    isSecret: false,
    isShared: false,
    default: (byDefault === undefined ? undefined : parse(String(byDefault))) as ValueOf<T, D>,
    parse: parse as Setting<ValueOf<T, D>>['parse'],
  };
}

export const fixed = <T>(value: T): FixedSetting<T> => ({ fixed: value });

/** Describes settings under one heading. */
export const section = <D extends Declarations>(title: string, declarations: D): D =>
  marked(declarations, { section: title });

export const secret = <D extends Declarations>(declarations: D): D =>
  marked(declarations, { isSecret: true });

export const sameOnAllNodes = <D extends Declarations>(declarations: D): D =>
  marked(declarations, { isShared: true });

function marked<D extends Declarations>(declarations: D, mark: Partial<Setting>): D {
  const entries = Object.entries(declarations).map(([key, declared]) => {
    if (isFixed(declared)) return [key, declared];
    return [key, isSetting(declared) ? { ...declared, ...mark } : marked(declared, mark)];
  });
  return Object.fromEntries(entries) as D;
}

// --- forms of values -----------------------------------------------------------------------------------------

interface Form {
  readonly pattern: RegExp;
  /** A description of the form. */
  readonly form: string;
}

export const text = <D extends SettingDeclaration & Partial<Form>>(declared: D) =>
  setting<string, D>(
    (text) => {
      const { pattern, form } = declared;
      if (pattern !== undefined && !pattern.test(text)) throw new WrongValue(`is not ${form}`);
      return text;
    },
    { bounds: declared.form ?? '', ...declared },
  );

interface Range {
  readonly min: number;
  readonly max?: number;
}

/** The program's value is the operator's times `scale`. */
export function integer<D extends SettingDeclaration & Range>(declared: D, scale = 1) {
  const { min, max } = declared;
  const bounds = max === undefined ? `at least ${min}` : `${min} to ${max}`;
  return setting<number, D>((text) => wholeNumber(text, declared) * scale, { bounds, ...declared });
}

/** @throws WrongValue */
export function wholeNumber(text: string, { min, max = Number.MAX_SAFE_INTEGER }: Range): number {
  if (!/^-?\d+$/.test(text)) throw new WrongValue('is not a whole number');
  const value = Number(text);
  if (value < min) throw new WrongValue(`is below ${min}`);
  if (value > max) throw new WrongValue(`is above ${max}`);
  return value;
}

export const milliseconds = <D extends SettingDeclaration & Range>(declared: D) =>
  integer({ unit: 'ms', ...declared });

/** Milliseconds in the program. */
export const seconds = <D extends SettingDeclaration & Range>(declared: D) =>
  integer({ unit: 's', ...declared }, 1_000);

/** Milliseconds in the program. */
export const days = <D extends SettingDeclaration & Range>(declared: D) =>
  integer({ unit: 'days', ...declared }, 86_400_000);

export const bytes = <D extends SettingDeclaration & Range>(declared: D) =>
  integer({ unit: 'bytes', ...declared });

export const mebibyte = 1_048_576;

/** Bytes in the program. */
export const mebibytes = <D extends SettingDeclaration & Range>(declared: D) =>
  integer({ unit: 'MiB', ...declared }, mebibyte);

export const port = <D extends SettingDeclaration>(declared: D) =>
  integer({ ...declared, min: 0, max: 65_535 });

const yes = ['true', '1', 'yes', 'on'];
const no = ['false', '0', 'no', 'off'];

/** The usual spellings of a switch. Undefined for anything else. */
export function parsedSwitch(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  if (yes.includes(lower)) return true;
  return no.includes(lower) ? false : undefined;
}

export const flag = <D extends SettingDeclaration>(declared: D) =>
  setting<boolean, D>(
    (text) => {
      const isOn = parsedSwitch(text);
      if (isOn === undefined) throw new WrongValue('is neither true nor false');
      return isOn;
    },
    { bounds: '`true` or `false`', ...declared },
  );

export const choice = <const T extends readonly string[], D extends SettingDeclaration>(
  values: T,
  declared: D,
) =>
  setting<T[number], D>(
    (text) => {
      const found = values.find((value) => value === text);
      if (found === undefined) throw new WrongValue(`is not one of ${values.join(', ')}`);
      return found;
    },
    { bounds: oneOf(values), ...declared },
  );

/** Entries are separated by commas. */
export const list = <D extends SettingDeclaration>(declared: D) =>
  setting<readonly string[], D>(entriesOf, declared);

export const choices = <const T extends readonly string[], D extends SettingDeclaration>(
  values: T,
  declared: D,
) =>
  setting<readonly T[number][], D>(
    (text) =>
      entriesOf(text).map((entry) => {
        const found = values.find((value) => value === entry);
        if (found === undefined) throw new WrongValue(`is not a list of ${values.join(', ')}`);
        return found;
      }),
    { bounds: `a list of ${oneOf(values)}`, ...declared },
  );

/** An http or https address, without a slash at its end. */
export const address = <D extends SettingDeclaration>(declared: D) =>
  setting<string, D>(
    (text) => {
      if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
        throw new WrongValue('is not an http or https address');
      }
      // The URL parser skips these characters, but code that uses the text would not.
      return text.replace(/[\t\r\n]/g, '').replace(/\/+$/, '');
    },
    { bounds: 'an http or https address', ...declared },
  );

/** A base address for requests: without a user, a query or a fragment. */
export const apiAddress = <D extends SettingDeclaration>(declared: D) => {
  const plain = address(declared);
  return {
    ...plain,
    parse: (text: string) => {
      const { username, password, search, hash } = new URL(plain.parse(text));
      if (username + password + search + hash !== '')
        throw new WrongValue('has a user, a query or a fragment');
      return plain.parse(text);
    },
  };
};

export const entriesOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

const oneOf = (values: readonly string[]): string => {
  const names = values.map((value) => `\`${value}\``);
  return names.length === 1 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
};

// --- reading -------------------------------------------------------------------------------------------------

/** The values of the declarations, from what `read` finds for each setting. */
export function settingsOf<D extends Declarations>(
  declarations: D,
  read: (declared: Setting) => unknown,
): SettingsOf<D> {
  const entries = Object.entries(declarations).map(([key, declared]) => {
    if (isFixed(declared)) return [key, declared.fixed];
    return [key, isSetting(declared) ? read(declared) : settingsOf(declared, read)];
  });
  return Object.fromEntries(entries) as SettingsOf<D>;
}

export const defaultsOf = <D extends Declarations>(declarations: D): SettingsOf<D> =>
  settingsOf(declarations, (declared) => declared.default);

/** All settings, in the order of their declaration. */
export const everySetting = (declarations: Declarations): readonly Setting[] =>
  Object.values(declarations).flatMap((declared) => {
    if (isFixed(declared)) return [];
    return isSetting(declared) ? [declared] : everySetting(declared);
  });

const isSetting = (declared: Setting | FixedSetting | Declarations): declared is Setting =>
  'parse' in declared;
const isFixed = (declared: Setting | FixedSetting | Declarations): declared is FixedSetting =>
  'fixed' in declared;
