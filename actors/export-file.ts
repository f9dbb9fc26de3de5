/**
 * The file of an export, made of its pages: the one that clients write when they export without decrypting. It has the key
 * parameters, and a list for each part, which is there even if it is empty.
 */
import { z } from 'zod';
import { type ExportCursor, exportCursorSchema, firstExportCursor } from './user/requests/contract.ts';

/** How far a file is: the cursor of the next page, and whether its part has rows in the file already. */
export const exportProgressSchema = z.object({ cursor: exportCursorSchema, hasRows: z.boolean() });
export type ExportProgress = z.infer<typeof exportProgressSchema>;

export const exportStart: ExportProgress = { cursor: firstExportCursor, hasRows: false };

interface ExportPage {
  /** The rows of one part, separated by commas. */
  readonly json: string;
  readonly next: ExportCursor | null;
}

/** The beginning of the file, up to the rows of its first part. */
export const exportBeginning = (head: object): string =>
  `${JSON.stringify(head).slice(0, -1)},"${firstExportCursor.part}":[\n`;

/** What a page adds to the file, and where the file goes on; null after its end. */
export function exportPiece(
  { cursor, hasRows }: ExportProgress,
  { json, next }: ExportPage,
): { readonly text: string; readonly next: ExportProgress | null } {
  const rows = json !== '' && hasRows ? `,\n${json}` : json;
  if (next === null) return { text: `${rows}\n]}\n`, next: null };
  const isSamePart = next.part === cursor.part;
  return {
    text: isSamePart ? rows : `${rows}\n],"${next.part}":[\n`,
    next: { cursor: next, hasRows: isSamePart && (hasRows || json !== '') },
  };
}
