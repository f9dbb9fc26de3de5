import { hash } from 'node:crypto';
import type { CalendarTokenHasher } from '../../actors/identity/calendar-tokens.ts';
import { closedHash, isImportedHash, verifyImported } from '../../actors/identity/imported-password.ts';
import type { PasswordHasher } from '../../actors/identity/password-hasher.ts';
import type { FairnessKey, InTurn } from '../../actors/queue.ts';

/** A hasher that costs nothing. Its hashes are readable, and it counts its calls. */
export class CountingHasher implements PasswordHasher {
  hashes = 0;
  verifications = 0;
  /** What the last verification was told of imported hashes. */
  importedLeft: boolean | undefined;
  /** Runs once, before the next verification answers. */
  meanwhile: (() => Promise<unknown>) | undefined;
  /** Where verifications wait, if anywhere. */
  queue: InTurn | undefined;

  async hash(password: string): Promise<string> {
    this.hashes += 1;
    return `hash of ${password}`;
  }

  async verify(
    hashed: string | undefined,
    password: string,
    key: FairnessKey,
    importedLeft?: boolean,
  ): Promise<boolean> {
    this.verifications += 1;
    this.importedLeft = importedLeft;
    await this.queue?.(async () => {}, undefined, key);
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    if (isImportedHash(hashed)) return verifyImported(hashed, password);
    if (hashed === closedHash) return false;
    if (hashed !== undefined && !hashed.startsWith('hash of ')) throw new Error('not a hash');
    return hashed === `hash of ${password}`;
  }
}

/** For calendar tokens. */
export const quickTokenHasher: CalendarTokenHasher = {
  hash: async (secret, salt) => hash('sha512', `${salt} ${secret}`, 'hex'),
};
