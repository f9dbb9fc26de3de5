/**
 * The same file as in `part.ts`, piece by piece, for callers without a session. These are operators who export it for the user,
 * and the mail queue. The caller has made sure that one of them asks.
 */
import type { View } from '../../../runtime/command.ts';
import { type ExportProgress, exportBeginning, exportPiece, exportStart } from '../../export-file.ts';
import { fullKeyParams } from '../../identity/key-params.ts';
import { type OwnAccount, ownAccount, ownRow } from '../account/own-account.ts';
import { type ExportReads, exportPageOf, exportPagePlans } from './export-pages.ts';

interface PieceRequest {
  readonly progress: ExportProgress | null;
  /** The file ends after the items, without history and the list of files. */
  readonly itemsOnly?: boolean;
}

interface PieceReads extends OwnAccount, ExportReads {}

export const exportPieces = {
  reads: (view: View, { progress }: PieceRequest) => ({
    ...exportPagePlans(view, (progress ?? exportStart).cursor),
    ...ownAccount(view),
  }),
  answer(view: View, { progress, itemsOnly = false }: PieceRequest, { account, ...reads }: PieceReads) {
    const at = progress ?? exportStart;
    const page = exportPageOf(view, at.cursor, reads);
    const isEnd = itemsOnly && page.next?.part !== 'items';
    const piece = exportPiece(at, isEnd ? { ...page, next: null } : page);
    if (progress !== null) return piece;
    const keyParams = fullKeyParams(ownRow(view, { account }));
    return { ...piece, text: exportBeginning({ version: keyParams.version, keyParams }) + piece.text };
  },
};
