/**
 * What a client shows a server instead of the typed password. The protocol of the account says how it is derived:
 *
 *     001, 002   PBKDF2 with the salt and the cost that the server sends
 *     003        PBKDF2 with a salt of the address, the cost and a nonce
 *     004        Argon2id with a salt of the address and a nonce
 *
 * PBKDF2 uses SHA-512, and its first 32 bytes are for the server. The other bytes are keys to the items, which an import does not
 * need.
 */
import { createHash, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { type Argon2id, serverPassword } from '../../../actors/identity/client-sign-in.ts';
import { CommandFailure } from '../../failure.ts';

export interface ReceivedKeyParams {
  readonly identifier: string;
  readonly version: string;
  readonly pw_nonce?: string;
  readonly pw_salt?: string;
  readonly pw_cost?: number;
  readonly pw_alg?: string;
  readonly pw_func?: string;
  readonly pw_key_size?: number;
  readonly created?: string;
  readonly origination?: string;
}

/** Clients accept no lower cost. With one, the server could guess the typed password from what it is sent. */
const costMins = { '001': 3_000, '002': 3_000, '003': 100_000 } as const;
/** No client ever chose as much. It bounds how long a server can keep the command busy. */
const costMax = 1_000_000;
/** Clients used no other cost with protocol 003, so a server need not know it. */
const costOf003 = 110_000;
const passwordBytes = 32;

/** Old protocols derive the server password so cheaply that a server can guess a weak password from it. */
export const isEasyToGuess = ({ version }: Pick<ReceivedKeyParams, 'version'>): boolean =>
  version === '001' || version === '002';

/** @throws CommandFailure for a protocol that is unknown, or key params that do not suffice */
export async function serverPasswordOf(password: string, keyParams: ReceivedKeyParams): Promise<string> {
  const { version, identifier, pw_nonce: nonce, pw_salt: salt, pw_cost: cost } = keyParams;
  switch (version) {
    case '004':
      return serverPassword({ password, identifier, nonce: sent(nonce, 'pw_nonce') }, argon2idInNode);
    case '003': {
      const used = bounded(cost ?? costOf003, costMins[version]);
      const text = [identifier, 'SF', version, used, sent(nonce, 'pw_nonce')].join(':');
      return stretched(password, createHash('sha256').update(text).digest('hex'), used);
    }
    case '002':
    case '001':
      return stretched(password, sent(salt, 'pw_salt'), bounded(sent(cost, 'pw_cost'), costMins[version]));
    default:
      throw refused(
        `The account is of protocol ${version ?? '(none named)'}, which this command does not know. ` +
          'Sign in to it with a current app, which offers to upgrade it. Then try again.',
      );
  }
}

const refused = (message: string): CommandFailure => CommandFailure.refused(message);

function sent<T>(value: T | undefined | null, name: string): T {
  if (value !== undefined && value !== null && value !== '') return value;
  throw refused(`The other server has sent no ${name}, without which no app can sign in to the account.`);
}

function bounded(cost: number, min: number): number {
  if (Number.isInteger(cost) && cost >= min && cost <= costMax) return cost;
  throw refused(
    `The other server asks for ${cost} rounds to derive the password, and ${min} to ${costMax} are allowed. ` +
      'With fewer it could guess the password. Ask who runs it.',
  );
}

async function stretched(password: string, salt: string, cost: number): Promise<string> {
  const key = await promisify(pbkdf2)(password, salt, cost, passwordBytes, 'sha512');
  return key.toString('hex');
}

const argon2idInNode: Argon2id = async (password, salt, cost) => {
  const { hashRaw } = await import('@node-rs/argon2');
  const { passes: timeCost, memoryKiB: memoryCost, lanes: parallelism, outputBytes: outputLen } = cost;
  // Argon2id is the library's default.
  return hashRaw(password, { salt, timeCost, memoryCost, parallelism, outputLen });
};
