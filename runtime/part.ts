/**
 * A part of a kind: everything that one feature adds to it. A kind of many features is a list of parts that share one mailbox.
 *
 * Each part has a contract of its own, with the name of the kind and only the messages of the feature. Events of the whole
 * actor, such as its deletion, reach the parts through hooks (`on`). The kind decides their names and types. So the code that
 * raises a hook imports no feature, and a feature that joins the list gets its hooks at once.
 */
import type { Contract } from './contract.ts';
import type { Implementation, Kind } from './kind.ts';

export interface AnyPart
  extends Pick<Kind, 'uses' | 'slices' | 'tables' | 'commands' | 'tells' | 'timers' | 'jobs'> {
  readonly name: string;
  readonly contract: Contract;
}

/** `Hooks`: the hooks of the whole actor by name, with their types. */
export interface Part<Hooks extends object> extends AnyPart {
  readonly on: Partial<Hooks>;
}

type Message = 'commands' | 'tells' | 'timers' | 'jobs';
const messages: readonly Message[] = ['commands', 'tells', 'timers', 'jobs'];

/** A handler for everything that the contract names. A part leaves out what its contract does not have. */
type PartOf<K extends Contract, Hooks> = {
  readonly [Name in Message as keyof K[Name] extends never ? never : Name]: Implementation<K>[Name];
} & { readonly name: string; readonly on?: Partial<Hooks> } & Partial<
    Pick<Kind, 'uses' | 'slices' | 'tables'>
  >;

/** The function that declares the parts of a kind with these hooks. */
export const partsWith =
  <Hooks extends object>() =>
  <K extends Contract>(contract: K, definition: PartOf<K, Hooks>): Part<Hooks> => ({
    uses: [],
    slices: [],
    tables: [],
    commands: {},
    tells: {},
    timers: {},
    jobs: {},
    on: {},
    ...(definition as Partial<Part<Hooks>> & { readonly name: string }),
    contract,
  });

/** The hooks of this name, in the order of the parts. */
export type HooksOf<Hooks extends object> = <Name extends keyof Hooks>(
  name: Name,
) => readonly NonNullable<Hooks[Name]>[];

export function hooksOf<Hooks extends object>(parts: readonly Part<Hooks>[]): HooksOf<Hooks> {
  return (name) => parts.map(({ on }) => on[name]).filter((hook) => hook !== undefined && hook !== null);
}

type OfKind = Partial<Pick<Kind, 'revivable' | 'membershipTable'>>;

/** @throws TypeError if two parts declare the same name, because one would silently replace the other */
export function kindOfParts(name: string, parts: readonly AnyPart[], ofKind: OfKind = {}): Kind {
  const foreign = parts.find(({ contract }) => contract.name !== name);
  if (foreign !== undefined)
    throw new TypeError(`${foreign.name} is a part of ${foreign.contract.name}, not of ${name}`);
  refuseTwice(parts, 'part', (part) => [part.name]);
  refuseTwice(parts, 'slice', ({ slices }) => slices.map(sliceName));
  refuseTwice(parts, 'table', ({ tables }) => tables.map((table) => table.name));
  for (const message of messages) refuseTwice(parts, message, (part) => Object.keys(part[message]));
  const merged = <M extends Message>(message: M): Kind[M] =>
    Object.assign({}, ...parts.map((part) => part[message])) as Kind[M];
  return {
    revivable: false,
    ...ofKind,
    name,
    uses: [...new Set(parts.flatMap(({ uses }) => uses))],
    slices: parts.flatMap(({ slices }) => slices),
    tables: parts.flatMap(({ tables }) => tables),
    commands: merged('commands'),
    tells: merged('tells'),
    timers: merged('timers'),
    jobs: merged('jobs'),
  };
}

/** The name under which a slice is stored. */
export const sliceName = (slice: Kind['slices'][number]): string =>
  'name' in slice ? slice.name : slice.family;

function refuseTwice(
  parts: readonly AnyPart[],
  what: string,
  namesOf: (part: AnyPart) => readonly string[],
): void {
  const declaredBy = new Map<string, string>();
  for (const part of parts) {
    for (const name of namesOf(part)) {
      const other = declaredBy.get(name);
      if (other !== undefined)
        throw new TypeError(`${what} '${name}' is declared by ${other} and by ${part.name}`);
      declaredBy.set(name, part.name);
    }
  }
}
