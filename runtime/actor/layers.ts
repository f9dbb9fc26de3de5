/**
 * A part of an actor's state in memory. Each key has its durable value, and over it the value of a commit that is still at the
 * gate. Slices and timers are held whole. Rows are held only while the database may not show them yet (see rows.ts).
 */
import { heapBytes, mapEntryBytes, textBytes } from './memory.ts';

export const removed: unique symbol = Symbol('removed');
export type RemovedMark = typeof removed;

/** The durable layer. */
export class DurableLayer<T> extends Map<string, T> {
  /** Entries grouped by the prefix of their keys. */
  readonly #families = new Map<string, ReadonlyMap<string, T>>();

  /** The entries whose keys begin with `prefix`, by the rest of the key. It is the same map until one of them changes. */
  family(prefix: string): ReadonlyMap<string, T> {
    const known = this.#families.get(prefix);
    if (known !== undefined) return known;
    const found = new Map<string, T>();
    for (const [key, value] of this) if (key.startsWith(prefix)) found.set(key.slice(prefix.length), value);
    this.#families.set(prefix, found);
    return found;
  }

  /** Approximate bytes of the groups, without their values. */
  get familyBytes(): number {
    let entries = 0;
    for (const family of this.#families.values()) entries += family.size;
    return entries * familyEntryBytes;
  }

  override set(key: string, value: T): this {
    this.#forgetFamilyOf(key);
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    this.#forgetFamilyOf(key);
    return super.delete(key);
  }

  #forgetFamilyOf(key: string): void {
    for (const prefix of this.#families.keys()) if (key.startsWith(prefix)) this.#families.delete(prefix);
  }
}

const familyEntryBytes = mapEntryBytes + textBytes('');

/** A map with a durable and a speculative layer. */
export class Layers<T> {
  readonly #durable = new DurableLayer<T>();
  readonly #speculative = new Map<string, { value: T | RemovedMark; commit: number }>();
  #durableBytes = 0;

  get(key: string): T | undefined {
    const above = this.#speculative.get(key);
    if (above === undefined) return this.#durable.get(key);
    return above.value === removed ? undefined : above.value;
  }

  /** The durable layer as it is now. The caller must not change it. */
  get durable(): ReadonlyMap<string, T> & Pick<DurableLayer<T>, 'family'> {
    return this.#durable;
  }

  /** Approximate bytes of the durable layer. */
  get durableBytes(): number {
    return this.#durableBytes + this.#durable.familyBytes;
  }

  /** Every key that has a value when the speculative layer overlays the durable one. */
  *keys(): Generator<string> {
    for (const key of this.#durable.keys()) if (!this.#speculative.has(key)) yield key;
    for (const [key, { value }] of this.#speculative) if (value !== removed) yield key;
  }

  /** The entries whose keys begin with `prefix`, if the speculative layer has none of them. */
  family(prefix: string): ReadonlyMap<string, T> | undefined {
    for (const key of this.#speculative.keys()) if (key.startsWith(prefix)) return undefined;
    return this.#durable.family(prefix);
  }

  load(key: string, value: T): void {
    this.#durable.set(key, value);
    this.#durableBytes += entryBytes(key, value);
  }

  /** Overlays a value of the commit numbered `commit`. */
  overlay(key: string, value: T | RemovedMark, commit: number): void {
    this.#speculative.set(key, { value, commit });
  }

  /** Makes a value of commit `commit` durable. A later value stays speculative above it. */
  promote(key: string, value: T | RemovedMark, commit: number): void {
    const before = this.#durable.get(key);
    if (before !== undefined) this.#durableBytes -= entryBytes(key, before);
    if (value === removed) this.#durable.delete(key);
    else this.load(key, value);
    if (this.#speculative.get(key)?.commit === commit) this.#speculative.delete(key);
  }

  /** Drops the speculative layer. */
  revert(): void {
    this.#speculative.clear();
  }
}

/** Values are immutable, so removing a value frees as many bytes as adding it has counted. */
const entryBytes = (key: string, value: unknown) => mapEntryBytes + textBytes(key) + heapBytes(value);
