import { argon2idAsync } from '@noble/hashes/argon2.js';
import type { Argon2id } from '../../../../actors/identity/client-sign-in.ts';

/** Takes seconds, and leaves the page usable meanwhile. */
export const argon2idInBrowser: Argon2id = (password, salt, { passes, memoryKiB, lanes, outputBytes }) =>
  argon2idAsync(password, salt, { t: passes, m: memoryKiB, p: lanes, dkLen: outputBytes });
