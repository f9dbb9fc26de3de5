/**
 * A hasher that remembers the last hash it made, for load tests whose accounts all have one password. These accounts share a salt,
 * so it is for conformance runs alone (`E2E_TESTING`). Verifying is as slow as usual.
 */
import type { PasswordHasher } from './password-hasher.ts';

export function rememberLastHash(hasher: PasswordHasher): PasswordHasher {
  let last: { readonly password: string; readonly hashed: Promise<string> } | undefined;
  return {
    hash(password, key) {
      if (last?.password === password) return last.hashed;
      const made = { password, hashed: hasher.hash(password, key) };
      last = made;
      made.hashed.catch(() => {
        if (last === made) last = undefined;
      });
      return made.hashed;
    },
    verify: (...request) => hasher.verify(...request),
  };
}
