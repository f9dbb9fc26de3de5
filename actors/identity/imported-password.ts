/**
 * Passwords that another server has hashed (docs/import.md) with bcrypt. This server verifies such hashes and makes none. The
 * first sign-in replaces the hash by one of Argon2id.
 *
 * A bcrypt hash takes ten times as long as one of Argon2id, so the time of an answer would show that an account was imported.
 * While any such hash is left on the server, every check does the work of both.
 */
import { dependency } from '../../runtime/dependency.ts';

/** The hash of an account that nobody can sign in to yet. No password matches it. */
export const closedHash = 'closed';

const bcryptForm = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/;

export const isImportedHash = (hashed: string | undefined): boolean =>
  hashed !== undefined && bcryptForm.test(hashed);

/** A hash of the cost that such servers use. No known password matches it. */
const dummyHash = '$2a$11$NDUhdcCxC.mxwG/j2xc5cuZwhyLKkMofCLgiGqdRq4ckuzZD4eumW';

/** For an undefined hash it answers false, after the same work. The first call loads the library, which most servers never need. */
export async function verifyImported(hashed: string | undefined, password: string): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt');
  return verify(password, hashed ?? dummyHash);
}

/** Whether any such hash is left on the server, as the hosts know it. */
export interface ImportedPasswords {
  areLeft(nowMs: number, ask: () => Promise<boolean>): Promise<boolean>;
}
export const ImportedPasswords = dependency<ImportedPasswords>('whether imported passwords are left');

/** An import takes longer than this before it opens an account. */
const rememberedMs = 30_000;

/** Asks the database only once in a while, so that it costs a sign-in nothing. */
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
