/** A setting as clients get it (docs/protocol/account.md, "Settings"). */
import { z } from 'zod';

export const settingSchema = z.object({
  uuid: z.string(),
  name: z.string(),
  value: z.string().nullable(),
  /** Microseconds since the epoch. */
  createdAt: z.number(),
  updatedAt: z.number(),
  sensitive: z.boolean(),
});
export type Setting = z.infer<typeof settingSchema>;
