/** What users request of their account as a whole (docs/protocol/account.md, "Requests"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { keyParamsSchema } from '../../identity/key-params.ts';
import { openToBridges, writesOf } from '../../signed-in.ts';

const requestUuid = z.string().max(64);

export const exportParts = ['items', 'revisions', 'files'] as const;

/** Where a page begins: after this position in the account's own rows, or in those of a vault. */
export const exportCursorSchema = z.object({
  part: z.enum(exportParts),
  vault: z.string().nullable(),
  after: z.number(),
});
export type ExportCursor = z.infer<typeof exportCursorSchema>;
export const firstExportCursor: ExportCursor = { part: 'items', vault: null, after: 0 };

export const Requests = contract({
  name: 'user',
  commands: openToBridges({
    /** Only `data-export`. Refusals: 400. */
    makeRequest: writesOf({
      fields: z.object({ requestType: z.string().max(64) }),
      ok: z.object({
        success: z.boolean(),
        request: z.object({
          uuid: z.string(),
          requestType: z.string(),
          /** The path of the download on this server. */
          path: z.string(),
          /** Microseconds; so is `expiresAt`. */
          createdAt: z.int(),
          expiresAt: z.int(),
        }),
      }),
    }),
    /** Begins a download, and ends an earlier one. Refusals: 404, 429. */
    beginExport: writesOf({
      fields: z.object({ requestUuid }),
      ok: z.object({ downloadUuid: z.string(), version: z.string(), keyParams: keyParamsSchema }),
    }),
    /** Refusals: 409 if another download has begun, or if this one took too long. */
    exportPage: writesOf({
      fields: z.object({ downloadUuid: z.string(), cursor: exportCursorSchema }),
      ok: z.object({
        /** The rows of one part, separated by commas. */
        json: z.string(),
        /** Where the next page begins; null after the last one. */
        next: exportCursorSchema.nullable(),
      }),
    }),
  }),
});
