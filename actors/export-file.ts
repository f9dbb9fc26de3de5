/**
 * The file of an export, made of its pages: the one that clients write when they export without decrypting. It has the key
 * parameters, and a list for each part, which is there even if it is empty.
 */
import { z } from 'zod';
import { type ExportPlace, exportPlaceSchema, firstExportPlace } from './user/requests/contract.ts';

/** Where a file goes on: the place of the next page, and whether its part has rows in the file already. */
export const exportCursorSchema = z.object({ place: exportPlaceSchema, hasRows: z.boolean() });
export type ExportCursor = z.infer<typeof exportCursorSchema>;

export const firstExportCursor: ExportCursor = { place: firstExportPlace, hasRows: false };

interface ExportPage {
  /** The rows of one part, separated by commas. */
  readonly json: string;
  readonly next: ExportPlace | null;
}

/** The beginning of the file, up to the rows of its first part. */
export const exportBeginning = (head: object): string =>
  `${JSON.stringify(head).slice(0, -1)},"${firstExportPlace.part}":[\n`;

/** What a page adds to the file, and where the file goes on; null after its end. */
export function exportPiece(
  { place, hasRows }: ExportCursor,
  { json, next }: ExportPage,
): { readonly text: string; readonly next: ExportCursor | null } {
  const rows = json !== '' && hasRows ? `,\n${json}` : json;
  if (next === null) return { text: `${rows}\n]}\n`, next: null };
  const isSamePart = next.part === place.part;
  return {
    text: isSamePart ? rows : `${rows}\n],"${next.part}":[\n`,
    next: { place: next, hasRows: isSamePart && (hasRows || json !== '') },
  };
}
