/** Lists the titles of test files without running a test. Some titles are made only when their file is loaded. */
import { register } from 'node:module';
import { importBuilt } from '../kit/built.ts';

const asModule = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;

/** Takes AVA's place in the files that are loaded from now on. */
const recorder = asModule(`
  const record = (title) => { globalThis.recordedTitles.push(title); };
  const ignore = Object.assign(() => {}, { always() {} });
  Object.assign(record, { serial: record, skip: record, before: ignore, after: ignore });
  export default record;
`);
const hooks = asModule(`
  export const resolve = (name, context, next) =>
    name === 'ava' ? { url: ${JSON.stringify(recorder)}, shortCircuit: true } : next(name, context);
`);

export async function titlesOf(files: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  register(hooks);
  const titles = new Map<string, readonly string[]>();
  for (const file of files) {
    const recordedTitles: string[] = [];
    Object.assign(globalThis, { recordedTitles });
    await importBuilt(file);
    titles.set(file, recordedTitles);
  }
  return titles;
}

/** As AVA compares them: `*` stands for anything. */
export function meets(title: string, match: string): boolean {
  const escaped = match.split('*').map((text) => text.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 'is').test(title);
}
