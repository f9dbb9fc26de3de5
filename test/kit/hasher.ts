import type { PasswordHasher } from '../../actors/identity/password-hasher.ts';

/** A hasher that costs nothing, whose hashes are readable, and which counts what it was asked. */
export class CountingHasher implements PasswordHasher {
  hashes = 0;
  verifications = 0;
  /** Runs once, before the next verification answers. */
  meanwhile: (() => Promise<unknown>) | undefined;

  async hash(password: string): Promise<string> {
    this.hashes += 1;
    return `hash of ${password}`;
  }

  async verify(hashed: string | undefined, password: string): Promise<boolean> {
    this.verifications += 1;
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    if (hashed !== undefined && !hashed.startsWith('hash of ')) throw new Error('not a hash');
    return hashed === `hash of ${password}`;
  }
}
