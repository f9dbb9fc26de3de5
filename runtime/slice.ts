/**
 * Document slices: the small parts of an actor's state that are held in memory while it is active. A slice is a
 * plain immutable value; a turn replaces it whole, and it is written only when replaced.
 *
 * A `sliceMap` is a family of slices under one name, each written alone: what is small but grows in number, such
 * as sessions. Its declaration bounds its size.
 */
import type { z } from 'zod';

/**
 * Only a defect outgrows this, and no user: each slice bounds what users can put into it. The largest are the wrapped keys of a
 * bridge.
 */
export const sliceBytesMax = 384 * 1024;

export interface Slice<T> {
  readonly name: string;
  /** The format version this release writes; every older one must still be readable by `schema`. */
  readonly format: number;
  readonly schema: z.ZodType<T>;
  readonly initial: T;
}

export interface SliceMap<T> {
  readonly family: string;
  readonly format: number;
  readonly schema: z.ZodType<T>;
  readonly entriesMax: number;
}

export function slice<T>(definition: Slice<T>): Slice<T> {
  return definition;
}

export function sliceMap<T>(definition: SliceMap<T>): SliceMap<T> {
  return definition;
}

/** What a read plan and a turn see of an actor's slices. */
export interface State {
  get<T>(of: Slice<T>): T;
  entry<T>(of: SliceMap<T>, key: string): T | undefined;
  /** In no particular order. Of what is durable it is the same map each time, until one of them changes. */
  entries<T>(of: SliceMap<T>): ReadonlyMap<string, T>;
}
