import type { AnySetting, ValueOf } from './setting.ts';
import { settings } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Values = { readonly [Name in keyof typeof settings]: ValueOf<(typeof settings)[Name]> };

export interface ReadValues {
  /** Undefined if there are problems. */
  readonly values: Values | undefined;
  /** One sentence each, without the value where it is a secret. */
  readonly problems: readonly string[];
}

/** The values of all settings, or everything that is wrong with them. */
export function readValues(environment: Environment): ReadValues {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, declared] of Object.entries<AnySetting>(settings)) {
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
  return { values: problems.length === 0 ? (values as Values) : undefined, problems };
}

function problemOf(name: string, declared: AnySetting, given: string, message: string): string {
  return declared.secret ? `${name} ${message}.` : `${name} ${message}: "${given}".`;
}
