/** What clients ask of settings (docs/protocol/account.md, "Settings"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { openToBridges, readsOf, writesOf } from '../../signed-in.ts';

const settingSchema = z.object({
  uuid: z.string(),
  name: z.string(),
  value: z.string().nullable(),
  /** Microseconds; so is `updatedAt`. */
  createdAt: z.number(),
  updatedAt: z.number(),
  sensitive: z.boolean(),
});
export type AccountSetting = z.infer<typeof settingSchema>;

export { isRefusedSetting, settingsActedOn, settingValueBytesMax } from './known.ts';

const name = z.string().max(64);
const success = z.boolean();
/** `x-server-password`. */
const password = z.string().optional();
const oneSetting = z.object({ success, setting: settingSchema.optional() });

export const UserSettings = contract({
  name: 'user',
  commands: openToBridges({
    /** Lists all settings except secrets. */
    listSettings: readsOf({ ok: z.object({ success, settings: z.array(settingSchema) }) }),
    /** For a secret it only says that it is set. Refusals: 400 for an unknown name, and for a setting that is not set; 423. */
    getSetting: readsOf({ fields: z.object({ name, password }), ok: oneSetting }),
    /** Refusals: 400 for a name or value that is not allowed. */
    putSetting: writesOf({
      fields: z.object({
        name,
        value: z.string().nullable(),
        totpToken: z.string().max(64).optional(),
      }),
      ok: oneSetting,
    }),
    /** Refusals: 400 for an unknown name, and for a setting that is not set; 423. */
    deleteSetting: writesOf({
      fields: z.object({ name, password }),
      ok: z.object({ success, settingName: z.string(), userUuid: z.string() }),
    }),
    getSubscriptionSetting: readsOf({ fields: z.object({ name }), ok: oneSetting }),
    putSubscriptionSetting: writesOf({
      fields: z.object({ name, value: z.string().nullable() }),
      ok: oneSetting,
    }),
  }),
});
