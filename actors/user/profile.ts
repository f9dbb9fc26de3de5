import { z } from 'zod';
import { slice } from '../../runtime/slice.ts';

/**
 * The account as its own actor knows it. What signing in needs from outside the actor is also in the
 * `account` table.
 */
export interface Profile {
  /** `none` before registration; `deleted` until the last rows of a deleted account are gone. */
  readonly state: 'none' | 'active' | 'deleted';
  /** Normalised; empty unless active. */
  readonly email: string;
  readonly workspace: string;
  /** The version of the client's protocol. */
  readonly protocolVersion: string;
  /** Grows with every change of password or e-mail, so that a sign-in notices that it checked an older one. */
  readonly credentialsVersion: number;
  readonly createdAtMs: number;
}

export const noProfile: Profile = {
  state: 'none',
  email: '',
  workspace: '',
  protocolVersion: '',
  credentialsVersion: 0,
  createdAtMs: 0,
};

export const profileSlice = slice<Profile>({
  name: 'profile',
  format: 1,
  schema: z.object({
    state: z.enum(['none', 'active', 'deleted']),
    email: z.string(),
    workspace: z.string(),
    protocolVersion: z.string(),
    credentialsVersion: z.number(),
    createdAtMs: z.number(),
  }),
  initial: noProfile,
});
