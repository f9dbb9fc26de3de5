/**
 * Document slices: the small parts of an actor's state that stay in memory while it is active. A slice is a plain immutable
 * value. A turn replaces it whole, and it is written only when replaced.
 *
 * A `sliceMap` is a family of slices under one name, each written by itself. It is for small values whose number grows, such as
 * sessions. Its declaration bounds its size.
 */
import type { z } from 'zod';

/** Only a defect exceeds this: each slice bounds what users can put into it. The largest are the wrapped keys of a bridge. */
export const sliceBytesMax = 384 * 1024;

export interface Slice<T> {
  readonly name: string;
  /** The format version that this release writes, usually 1. `schema` must still read every older one. */
  readonly format: number;
  readonly schema: z.ZodType<T>;
  readonly initial: T;
}

export interface SliceMap<T> {
  readonly family: string;
  /** The names of its slices begin with this. */
  readonly prefix: string;
  readonly format: number;
  readonly schema: z.ZodType<T>;
  readonly entriesMax: number;
}

type Declared<S extends { readonly format: number }> = Omit<S, 'format'> & Partial<Pick<S, 'format'>>;

export const slice = <T>(declared: Declared<Slice<T>>): Slice<T> => ({ format: 1, ...declared });

export const sliceMap = <T>(declared: Declared<Omit<SliceMap<T>, 'prefix'>>): SliceMap<T> => ({
  format: 1,
  prefix: `${declared.family}:`,
  ...declared,
});

/** The slices of an actor as a read plan and a turn see them. */
export interface SliceSource {
  get<T>(of: Slice<T>): T;
  entry<T>(of: SliceMap<T>, key: string): T | undefined;
  /** In no particular order. Durable entries come in the same map each time, until one of them changes. */
  entries<T>(of: SliceMap<T>): ReadonlyMap<string, T>;
}
