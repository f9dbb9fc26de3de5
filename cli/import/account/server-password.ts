/** What a client shows a server instead of the typed password. */
import { type Argon2id, serverPassword } from '../../../actors/identity/client-sign-in.ts';
import { CommandFailure, exitCodes } from '../../failure.ts';

export interface ReceivedKeyParams {
  readonly identifier: string;
  readonly version: string;
  readonly pw_nonce: string;
  readonly created?: string;
  readonly origination?: string;
}

/** @throws CommandFailure for an account of an older protocol */
export async function serverPasswordOf(
  password: string,
  { version, identifier, pw_nonce: nonce }: ReceivedKeyParams,
): Promise<string> {
  if (version !== '004') {
    throw new CommandFailure(
      exitCodes.refused,
      `The account is of protocol ${version}. Sign in to it with a current app first, which brings it to 004.`,
    );
  }
  return serverPassword({ password, identifier, nonce }, argon2idInNode);
}

const argon2idInNode: Argon2id = async (password, salt, cost) => {
  const { hashRaw } = await import('@node-rs/argon2');
  const { passes: timeCost, memoryKiB: memoryCost, lanes: parallelism, outputBytes: outputLen } = cost;
  // Argon2id is the library's default.
  return hashRaw(password, { salt, timeCost, memoryCost, parallelism, outputLen });
};
