/** A conflict is right where somebody else's write took effect above the version this one was based on. */
import type { Timed } from '../history.ts';
import { walk } from './calls.ts';
import type { Report } from './violation.ts';

export function checkConflicts(entries: readonly Timed[], report: Report): void {
  for (const { entry, call } of walk(entries)) {
    if (entry.event !== 'answered' || call === undefined) continue;
    for (const { type, uuid, stored } of entry.conflicts) {
      const write = call.writes.find((each) => each.uuid === uuid);
      if (write === undefined) continue;
      const isReal =
        type === 'sync_conflict' &&
        stored !== undefined &&
        stored.version > write.base &&
        stored.mark !== write.mark;
      if (isReal) continue;
      const against = stored === undefined ? 'nothing' : `${stored.mark} at ${stored.version}`;
      report('false-conflict', call.user, `${type} of ${write.mark} on ${write.base} against ${against}`);
    }
  }
}
