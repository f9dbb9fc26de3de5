/** What clients ask of second factors, and of what stands in for them (docs/protocol/account.md). */
import { z } from 'zod';
import { signedIn, signedInOf } from '../../signed-in.ts';

const nothing = z.object({});
const success = z.boolean();
/** `x-server-password`. */
const password = z.string().optional();

/** Times as ISO text. */
const appPassword = z.object({ uuid: z.string(), label: z.string(), createdAt: z.string() });
/** Times in milliseconds. */
const trustedDevice = z.object({
  uuid: z.string(),
  label: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
});

export const factorShapes = {
  /** A secret for an authenticator app, not a factor yet. Refusals: 400 where one is on. */
  offerTotpSecret: signedInOf({
    access: 'writes',
    fields: nothing,
    ok: z.object({ success, secret: z.string() }),
  }),
  /** Refusals: 400 without the password or with a wrong one, 423. */
  makeRecoveryCodes: signedIn({
    access: 'writes',
    fields: z.object({ password }),
    ok: z.object({ recoveryCodes: z.string() }),
  }),

  /** The password is shown this once. Refusals: 400 for a blank label and where there are too many. */
  makeAppPassword: signedIn({
    access: 'writes',
    fields: z.object({ label: z.string().max(1_024) }),
    ok: z.object({ appPassword, password: z.string() }),
  }),
  listAppPasswords: signedIn({
    access: 'reads',
    fields: nothing,
    ok: z.object({ appPasswords: z.array(appPassword.extend({ lastUsedAt: z.string().nullable() })) }),
  }),
  /** Refusals: 404. */
  deleteAppPassword: signedIn({
    access: 'writes',
    fields: z.object({ appPasswordUuid: z.string().max(64) }),
    ok: z.object({ message: z.string() }),
  }),

  /** The token is shown this once. */
  trustDevice: signedIn({
    access: 'writes',
    fields: z.object({ label: z.string().max(1_024).nullish() }),
    ok: z.object({ trustedDevice: trustedDevice.extend({ token: z.string() }) }),
  }),
  listTrustedDevices: signedIn({
    access: 'reads',
    fields: nothing,
    ok: z.object({ trustedDevices: z.array(trustedDevice.extend({ lastUsedAt: z.number().nullable() })) }),
  }),
  /** Refusals: 404. */
  distrustDevice: signedIn({
    access: 'writes',
    fields: z.object({ trustedDeviceUuid: z.string().max(64) }),
    ok: z.object({ message: z.string() }),
  }),
};
