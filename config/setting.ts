/** The vocabulary in which settings are declared: each is text in the environment and a value in the program. */
import { z } from 'zod';

export interface Setting<T = unknown> {
  readonly group: string;
  readonly description: string;
  /** What one of it is, for numbers. */
  readonly unit?: string;
  readonly schema: z.ZodType<T, string>;
  /** The value when the variable is absent or empty. */
  readonly default: T | undefined;
  /** What stands in the documentation as the default where it is not a plain value. */
  readonly defaultText?: string;
  /** Never shown, neither in a message nor in a log. */
  readonly secret?: boolean;
}

export type AnySetting = Setting<unknown>;

export type ValueOf<S> =
  S extends Declared<infer T, infer D> ? (D extends undefined ? T | undefined : T) : never;

type Declared<T, D> = Omit<Setting<T>, 'default'> & { readonly default: D };

/** A setting with a default, or (without one) an optional setting. */
export function setting<T>(declared: Declared<T, NoInfer<T>>): Declared<T, T>;
export function setting<T>(declared: Omit<Setting<T>, 'default'>): Declared<T, undefined>;
export function setting<T>(declared: Omit<Setting<T>, 'default'> & { readonly default?: T }) {
  return { default: undefined, ...declared };
}

export const text = z.string();

export const integer = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^-?\d+$/, 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `is below ${min}`).max(max, `is above ${max}`));

export const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0'], 'is neither true nor false'))
  .transform((value) => value === 'true' || value === '1');

export const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.string().pipe(z.enum(values, `is none of ${values.join(', ')}`));

export const list = z.string().transform((value): readonly string[] =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/** An http or https address, without a slash at its end. */
export const address = z
  .url({ protocol: /^https?$/, error: 'is not an http or https address' })
  .transform((value) => value.replace(/\/+$/, ''));
