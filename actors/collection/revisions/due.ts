/**
 * Decides whether a save makes a revision (docs/protocol/sync.md, "Revisions"). The time counts from the item's last revision,
 * so that a user who writes for hours without a pause gets revisions too. The item's own row has the time, so this costs no
 * read.
 */
import type { ItemRow } from '../item.ts';

const typesWithHistory: ReadonlySet<string | null> = new Set(['Note', 'SN|File']);

interface Save {
  readonly contentType: string | null;
  readonly deleted: boolean;
  readonly atMicros: number;
}

type Revised = Pick<ItemRow, 'revisions' | 'revised_at'>;

const never: Revised = { revisions: 0, revised_at: 0 };

/** The count and time of the item's revisions after this save. A count that grew means that the save makes a revision. */
export function revisedBy(save: Save, before: Revised = never, pauseMs: number): Revised {
  const { revisions, revised_at } = before;
  if (save.deleted) return { revisions, revised_at: 0 };
  const isDue = revised_at === 0 || save.atMicros - revised_at >= pauseMs * 1_000;
  if (!isDue || !typesWithHistory.has(save.contentType)) return { revisions, revised_at };
  return { revisions: revisions + 1, revised_at: save.atMicros };
}
