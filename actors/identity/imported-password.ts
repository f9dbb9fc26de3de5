/**
 * Passwords that another server has hashed (docs/import.md): bcrypt, which is verified and never made here. The first sign-in puts
 * an Argon2id hash in its place.
 *
 * A bcrypt hash takes ten times as long as ours, so the time of an answer would tell that an address is one of an imported
 * account. While any such hash is left on the server, every check does the work of both.
 */
import { dependency } from '../../runtime/dependency.ts';

/** The hash of an account that nobody can sign in to yet. No password is behind it. */
export const closedHash = 'closed';

const bcryptForm = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/;

export const isImportedHash = (hashed: string | undefined): boolean =>
  hashed !== undefined && bcryptForm.test(hashed);

/** Of the cost that such servers use. Nobody is known to have the password. */
const nobodysHash = '$2a$11$NDUhdcCxC.mxwG/j2xc5cuZwhyLKkMofCLgiGqdRq4ckuzZD4eumW';

/** Undefined: false, after the same work. The library is loaded by the first: most servers never need it. */
export async function verifyImported(hashed: string | undefined, password: string): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt');
  return verify(password, hashed ?? nobodysHash);
}

/** Whether any such hash is left on the server, as the hosts know it. */
export interface ImportedPasswords {
  areLeft(nowMs: number, ask: () => Promise<boolean>): Promise<boolean>;
}
export const ImportedPasswords = dependency<ImportedPasswords>('whether imported passwords are left');

/** An import takes longer before anybody may sign in to what it has written. */
const rememberedMs = 30_000;

/** Asks once in a while, so that a sign-in costs nothing more. */
export function createImportedPasswords(): ImportedPasswords {
  let known: { readonly areLeft: boolean; readonly untilMs: number } | undefined;
  return {
    async areLeft(nowMs, ask) {
      if (known === undefined || nowMs >= known.untilMs) {
        known = { areLeft: await ask(), untilMs: nowMs + rememberedMs };
      }
      return known.areLeft;
    },
  };
}
