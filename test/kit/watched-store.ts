/** A store that keeps the text of everything written, including text in bytes. */
import { inspect } from 'node:util';
import { ModelStore } from './model-store/model-store.ts';

export class WatchedStore extends ModelStore {
  written = '';

  override commit(...args: Parameters<ModelStore['commit']>): ReturnType<ModelStore['commit']> {
    this.written += inspect(args, { depth: null, maxStringLength: null });
    for (const bytes of bytesIn(args)) this.written += bytes.toString('latin1');
    return super.commit(...args);
  }
}

function bytesIn(value: unknown): Buffer[] {
  if (Buffer.isBuffer(value)) return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(bytesIn);
}
