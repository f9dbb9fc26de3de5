/** The durable state, derived from the commits alone: the yardstick of the other checkers. */
import { type Address, addressKey } from '../../../runtime/address.ts';
import { decode } from '../../../runtime/store/encoding.ts';
import type { Commit, Write } from '../../../runtime/store/store.ts';
import { type AnyRow, keyText } from '../../../runtime/table.ts';

const newestFormat = 255;

export class Durable {
  readonly #slices = new Map<string, Map<string, { data: Buffer; value?: unknown }>>();
  readonly #tables = new Map<string, Map<string, AnyRow>>();

  committed(commit: Commit): void {
    for (const write of commit.writes) {
      if (write.table.name === 'slice') this.#slice(commit.address, write);
      else this.#row(write);
    }
  }

  slice<T>(address: Address, name: string): T | undefined {
    const stored = this.#slices.get(addressKey(address))?.get(name);
    if (stored === undefined) return undefined;
    stored.value ??= decode(stored.data, newestFormat);
    return stored.value as T;
  }

  rows(table: string): Iterable<AnyRow> {
    return this.#tables.get(table)?.values() ?? [];
  }

  row(table: string, key: readonly string[]): AnyRow | undefined {
    return this.#tables.get(table)?.get(key.join('\u0000'));
  }

  #slice(address: Address, write: Write): void {
    const of = addressKey(address);
    const slices = this.#slices.get(of) ?? new Map<string, { data: Buffer }>();
    this.#slices.set(of, slices);
    if ('remove' in write) slices.delete(String(write.remove['slice']));
    else slices.set(String(write.put['slice']), { data: write.put['data'] as Buffer });
  }

  #row(write: Write): void {
    const rows = this.#tables.get(write.table.name) ?? new Map<string, AnyRow>();
    this.#tables.set(write.table.name, rows);
    if ('remove' in write) rows.delete(keyText(write.table, write.remove));
    else rows.set(keyText(write.table, write.put), write.put);
  }
}
