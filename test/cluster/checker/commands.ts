/** A named command has one effect. Sent again, its answer contains what it saved, at the same versions. */
import type { Timed } from '../history.ts';
import { walk } from './calls.ts';
import type { Report } from './violation.ts';

export function checkCommands(entries: readonly Timed[], report: Report): void {
  const saved = new Map<number, string>();
  for (const { entry, call } of walk(entries)) {
    if (entry.event === 'answered') saved.set(entry.call, textOf(entry.saved));
    if (entry.event !== 'replayed') continue;
    const first = saved.get(entry.call) ?? '';
    const again = textOf(entry.saved);
    if (again === first) continue;
    report('command-changed', call?.user ?? '', `call ${entry.call} had saved ${first}, and then ${again}`);
  }
}

const textOf = (saved: readonly { readonly uuid: string; readonly version: number }[]): string =>
  saved
    .map(({ uuid, version }) => `${uuid}@${version}`)
    .sort()
    .join(' ');
