/** The address and the state of an account, as its own actor knows them. */
import { z } from 'zod';
import type { View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';

const profileSchema = z.object({
  /** `none` before registration; `deleted` until the last rows of a deleted account are gone. */
  state: z.enum(['none', 'active', 'deleted']),
  /** Normalised; empty unless active. */
  email: z.string(),
  workspace: z.string(),
  /** The version of the client's protocol. */
  protocolVersion: z.string(),
  /** Grows with each change of password or e-mail, so that a sign-in sees that it checked older credentials. */
  credentialsVersion: z.number(),
  createdAtMs: z.number(),
});
export type Profile = Readonly<z.infer<typeof profileSchema>>;

export const noProfile: Profile = {
  state: 'none',
  email: '',
  workspace: '',
  protocolVersion: '',
  credentialsVersion: 0,
  createdAtMs: 0,
};

/** Sign-ins read the `account` table instead: they have no actor yet. */
export const profileSlice = slice<Profile>({
  name: 'profile',
  format: 1,
  schema: profileSchema,
  initial: noProfile,
});

export const isActive = (view: View): boolean => view.get(profileSlice).state === 'active';

const banSchema = z.object({ atMs: z.number(), reason: z.string().nullable() }).nullable();

export const banReasonCharactersMax = 1_024;

/** The ban of the account, if there is one (docs/protocol/authentication.md, "Banned accounts"). */
export const banSlice = slice<Readonly<z.infer<typeof banSchema>>>({
  name: 'ban',
  format: 1,
  schema: banSchema,
  initial: null,
});

export const isBanned = (view: View): boolean => view.get(banSlice) !== null;

/** While it is not, no secret opens the account, and nothing leaves it. */
export const isInUse = (view: View): boolean => isActive(view) && !isBanned(view);
