/**
 * How something moves from one owner, its *source*, to another, its *target* (decision 55). The protocol has two uses: items
 * between collections (`collection/transfer.ts`), and files between accounts and vaults (`files/transfer.ts`).
 *
 *     source   prepare    commits a note of what may leave, at which transfer version and where to, and a timer; the row stays
 *     target   apply      checks rights and capacity, then writes a row with the next transfer version: from this commit on the
 *                         target is the owner
 *     source   finalize   gives up its row if the target has applied it; if not, its own row takes the next transfer version,
 *                         which ends the transfer. The same commit removes the note
 *
 * - At any moment the owner is the one whose row has the greatest transfer version (the column `hop`).
 * - What moves has one row with each transfer version on the whole server. `apply` and any commit that ends the transfer at the
 *   source write the same one, so one of the two is rejected. No clock decides that, and no answer is needed.
 * - The unique key blocks a write only while a row holds it. Each use says for how long its rows do. `apply` first looks for the
 *   row at its source, so a call that comes after all of that writes nothing.
 * - The caller may die after each step. The timer then finalizes without knowing what the target did: it takes the next
 *   transfer version. If another row has that version, the commit is rejected and shows that row. The turn then runs again and
 *   gives up its own row instead. Nothing repeats `apply`: the client got no answer and sends its request again.
 * - While there is a note, the row may be the target's already. So the source looks for the row of the target, takes the next
 *   transfer version, or does not change its row at all.
 */
import { z } from 'zod';
import type { Turn, View } from '../runtime/command.ts';
import { keyed, type MessageShape } from '../runtime/contract.ts';
import type { SliceMap } from '../runtime/slice.ts';
import { type AnyRow, type AnyTable, ownerColumn, type RowOf } from '../runtime/table.ts';

/** The most notes that one source keeps. */
export const transfersMax = 100;
/** Longer than any call is waited for. */
const finalizedAfterMs = 30_000;

export const finalizePayload = z.object({ id: z.string() });
export type FinalizeTimer = MessageShape<z.infer<typeof finalizePayload>>;

/** Where a source keeps its notes, and the timer that finalizes. */
interface Notes<Note> {
  readonly map: SliceMap<Note>;
  readonly timer: FinalizeTimer;
}

export const hasNoMoreNotes = <Note>(view: View, map: SliceMap<Note>): boolean =>
  view.entries(map).size >= transfersMax;

/** Keeps a note by the id of its transfer, until the timer looks at it. */
export function keepNote<Note>(
  turn: Turn,
  { map, timer }: Notes<Note>,
  {
    id,
    note,
    forMs = finalizedAfterMs,
  }: { readonly id: string; readonly note: Note; readonly forMs?: number },
): void {
  turn.setEntry(map, id, note);
  turn.arm(keyed(timer, id), turn.nowMs + forMs, { id });
}

export function dropNote<Note>(turn: Turn, { map, timer }: Notes<Note>, id: string): void {
  turn.removeEntry(map, id);
  turn.disarm(keyed(timer, id));
}

/** The row of another owner with this unique key, once a commit was rejected because of it. */
export function rivalOf<T extends AnyTable>(
  view: View,
  table: T,
  unique: Partial<RowOf<T>>,
): RowOf<T> | undefined {
  const row = view.conflicting(table, unique);
  return (row as AnyRow | undefined)?.[ownerColumn(table)] === view.self.id ? undefined : row;
}
