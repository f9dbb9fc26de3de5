/** Reads fields of requests for the services. Errors are INVALID_ARGUMENT and never repeat the value. */
import { kinds } from '../actors/kinds.ts';
import type { ActorAddress } from '../proto/generated/scriptorium/v1/cluster.ts';
import type { Address } from '../runtime/address.ts';
import { invalidArgument } from './errors.ts';

const kindNames = kinds.map(({ name }) => name);

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const charactersMax = 512;

export function textField(name: string, value: string): string {
  if (value === '') throw invalidArgument(`${name} is missing.`);
  if (value.length > charactersMax) {
    throw invalidArgument(`${name} is too long: at most ${charactersMax} characters.`);
  }
  return value;
}

/** In lower case, like stored uuids. */
export function uuidField(name: string, value: string): string {
  const uuid = textField(name, value).toLowerCase();
  if (!uuidPattern.test(uuid)) throw invalidArgument(`${name} is not a uuid.`);
  return uuid;
}

/** An actor, as operators name it. */
export function addressField(name: string, value: ActorAddress | undefined): Address {
  if (value === undefined) throw invalidArgument(`${name} is missing.`);
  const kind = textField(`${name}.kind`, value.kind);
  if (!kindNames.includes(kind)) {
    throw invalidArgument(`${name}.kind is not a kind of actor; there are: ${kindNames.join(', ')}.`);
  }
  return { kind, id: textField(`${name}.id`, value.id) };
}

const rowsDefault = 100;
const rowsMax = 1_000;

/** The most rows of an answer. */
export function limitField(name: string, value: number): number {
  if (value < 0) throw invalidArgument(`${name} is negative.`);
  return value === 0 ? rowsDefault : Math.min(value, rowsMax);
}
