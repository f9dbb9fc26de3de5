/**
 * Secrets of an account that the server must be able to read, such as that of its authenticator app. They are stored encrypted
 * (`sealing.ts`) under a separate key for each user, which is derived from the root secret, and are bound to their purpose.
 */
import { createHmac } from 'node:crypto';
import type { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';
import type { Random } from '../../runtime/random.ts';
import { open, seal } from './sealing.ts';

export interface UserSecrets {
  /** `random` makes the nonce: that of the turn, so that a turn which runs again is the same. */
  seal(secret: SealedFor, plain: string, random: Pick<Random, 'bytes'>): Buffer;
  /** @throws Error when the bytes were altered, or sealed for another user, purpose or root secret */
  open(secret: SealedFor, sealed: Uint8Array): string;
}
export const UserSecrets = dependency<UserSecrets>('the keys of users’ secrets');

interface SealedFor {
  readonly userUuid: string;
  readonly purpose: string;
}

/** Values of the account whose actor this is, sealed as JSON. Each is bound to this purpose, and to the name of its entry. */
export function sealedValues<T>(schema: z.ZodType<T>, purpose: string) {
  const under = ({ self }: View, name: string) => ({ userUuid: self.id, purpose: `${purpose} ${name}` });
  return {
    seal: (turn: Turn, name: string, value: T): Buffer =>
      turn.use(UserSecrets).seal(under(turn, name), JSON.stringify(value), turn.random),
    open: (view: View, name: string, sealed: Uint8Array): T =>
      schema.parse(JSON.parse(view.use(UserSecrets).open(under(view, name), sealed))),
  };
}

export function createUserSecrets(keyring: Keyring): UserSecrets {
  const root = keyring.derive('user-secrets');
  const under = ({ userUuid, purpose }: SealedFor) => ({
    key: createHmac('sha256', root).update(userUuid).digest(),
    purpose,
  });
  return {
    seal: (secret, plain, random) => seal(under(secret), plain, random),
    open: (secret, sealed) => open(under(secret), sealed),
  };
}
