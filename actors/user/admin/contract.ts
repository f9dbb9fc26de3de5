/** What administrators ask of their own actor (docs/protocol/account.md, "Administration"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { isStorableText } from '../../../runtime/table.ts';
import { reads, writes } from '../../signed-in.ts';
import { banReasonCharactersMax } from '../profile.ts';

/** The address as the administrator has typed it. */
const email = z.string().max(1_024).refine(isStorableText);
const workspace_identifier = z.string().max(256).refine(isStorableText).nullish();
/** The user in the path. */
const userUuid = z.string();
/** The turn checks it, so that a caller who is no administrator gets that refusal for any input. */
const unchecked = z.unknown().optional();
const uncheckedSwitch = unchecked.meta({ type: 'boolean' });
const uncheckedText = unchecked.meta({ type: 'string' });

export const banFields = z.object({
  banned: z.boolean(),
  banReason: z.string().max(banReasonCharactersMax).refine(isStorableText).nullish(),
});
export const flagFields = z.object({ name: z.string().max(64), value: z.string().max(64).nullable() });
export const registrationFields = z.object({
  registrationDisabled: z.boolean().optional(),
  registrationEnabled: z.boolean().optional(),
});

const ban = { banned: z.boolean(), bannedAt: z.string().nullable(), banReason: z.string().nullable() };

const registration = z.object({
  registrationDisabled: z.boolean(),
  registrationEnabled: z.boolean(),
  enforcedByOperator: z.boolean(),
});

export const Administration = contract({
  name: 'user',
  /** Refusals: 403 for anyone else, 404 for a user who does not exist. */
  commands: {
    getRegistration: reads({ ok: registration }),
    /** Refusals: 400 if it says neither or both. */
    setRegistration: writes({
      fields: z.object({ registrationDisabled: uncheckedSwitch, registrationEnabled: uncheckedSwitch }),
      ok: registration.extend({ success: z.boolean() }),
    }),
    lookUpUser: reads({
      fields: z.object({ email, workspace_identifier }),
      ok: z.object({ uuid: z.string() }),
    }),
    getBan: reads({
      fields: z.object({ email, workspace_identifier }),
      ok: z.object({ uuid: z.string(), email: z.string(), ...ban }),
    }),
    /** Refusals: 400 for the administrator's own account, 409 while the account bans another one. */
    setBan: writes({
      fields: z.object({ userUuid, banned: uncheckedSwitch, banReason: uncheckedText }),
      ok: z.object({ success: z.boolean(), uuid: z.string(), ...ban }),
    }),
    getFlags: reads({
      fields: z.object({ userUuid }),
      ok: z.object({
        userUuid: z.string(),
        flags: z.record(z.string(), z.string().nullable()),
        nextcloudAppPasswordConfigured: z.boolean(),
      }),
    }),
    /** Refusals: 400 for a name or a value that is not allowed. */
    setFlag: writes({
      fields: z.object({ userUuid, name: uncheckedText, value: uncheckedText }),
      ok: z.object({
        success: z.boolean(),
        userUuid: z.string(),
        name: z.string(),
        value: z.string().nullable(),
      }),
    }),
  },
});
