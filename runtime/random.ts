import { randomBytes, randomUUID } from 'node:crypto';

/** The randomness port: the system's generator in production, a seeded one in tests and in the simulator. */
export interface Random {
  bytes(length: number): Buffer;
  /** A version 4 uuid, lower case. */
  uuid(): string;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}

export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  uuid: () => randomUUID(),
  fraction: () => randomBytes(4).readUInt32BE(0) / 2 ** 32,
};

export function shuffled<T>(list: readonly T[], random: Random): readonly T[] {
  const shuffling = [...list];
  for (let index = shuffling.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random.fraction() * (index + 1));
    [shuffling[index], shuffling[other]] = [shuffling[other] as T, shuffling[index] as T];
  }
  return shuffling;
}
