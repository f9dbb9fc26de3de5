/** The tools and options of every part of an import. */
import type { ImportDescribeResponse } from '../../proto/generated/scriptorium/v1/import.ts';
import type { ImportReport } from './report.ts';
import type { Tables } from './source/tables.ts';
import type { ImportTarget } from './target.ts';

interface Choices {
  readonly dryRun: boolean;
  /** The key of the other server. Without it nothing that the other server has encrypted is imported. */
  readonly serverKey: Buffer | undefined;
  /** What happens to accounts whose second factor cannot be read. */
  readonly withoutKey: 'stop' | 'lock' | 'drop';
  readonly administrators: boolean;
  readonly quotas: boolean;
  /** Among accounts whose addresses differ only in case, the ones to import. */
  readonly preferred: ReadonlySet<string>;
}

export interface ImportContext extends Choices {
  readonly tables: Tables;
  readonly target: ImportTarget;
  readonly report: ImportReport;
  readonly limits: ImportDescribeResponse;
  progress(text: string): void;
}

/** Runs at most `limit` at once. After the first failure no further one starts. */
export async function forEachConcurrently<T>(
  of: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (each: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failed: { readonly error: unknown } | undefined;
  for await (const each of of) {
    if (failed !== undefined) break;
    const run = work(each)
      .catch((error: unknown) => {
        failed ??= { error };
      })
      .finally(() => running.delete(run));
    running.add(run);
    if (running.size >= limit) await Promise.race(running);
  }
  await Promise.all(running);
  if (failed !== undefined) throw failed.error;
}

/** Groups that end once they reach this number of bytes or items. */
export async function* groups<T>(
  of: AsyncIterable<T> | Iterable<T>,
  numberMax: number,
  bytesMax = Number.POSITIVE_INFINITY,
  bytesOf: (each: T) => number = () => 0,
): AsyncGenerator<T[]> {
  let group: T[] = [];
  let bytes = 0;
  for await (const each of of) {
    group.push(each);
    bytes += bytesOf(each);
    if (group.length < numberMax && bytes < bytesMax) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}
