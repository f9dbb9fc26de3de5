import type { AnySetting, ValueOf } from './setting.ts';
import type { settings } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type Declarations = Readonly<Record<string, AnySetting>>;
type ValuesOf<S extends Declarations> = { readonly [Name in keyof S]: ValueOf<S[Name]> };

/** Of all settings. */
export type Values = ValuesOf<typeof settings>;

export interface ReadValues<S extends Declarations> {
  /** Undefined if there are problems. */
  readonly values: ValuesOf<S> | undefined;
  /** One sentence each, without the value where it is a secret. */
  readonly problems: readonly string[];
}

/** The values of these settings, or everything that is wrong with them. */
export function readValues<S extends Declarations>(environment: Environment, declarations: S): ReadValues<S> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, declared] of Object.entries(declarations)) {
    const given = environment[name]?.trim();
    // An empty variable is how compose files and the like say "not set".
    if (given === undefined || given === '') {
      values[name] = declared.default;
      continue;
    }
    const parsed = declared.schema.safeParse(given);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(problemOf(name, declared, given, parsed.error.issues[0]?.message ?? 'is wrong'));
  }
  return { values: problems.length === 0 ? (values as ValuesOf<S>) : undefined, problems };
}

function problemOf(name: string, declared: AnySetting, given: string, message: string): string {
  return declared.secret ? `${name} ${message}.` : `${name} ${message}: "${given}".`;
}
