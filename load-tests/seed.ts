/** Makes the users for load tests: accounts, sessions and notes, over the interface of clients. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { type Account, caughtUp, register, signIn, upload } from '../benchmarks/support/api-client.ts';
import { someAtOnce } from '../benchmarks/support/at-once.ts';
import type { Population } from './profiles.ts';
import type { Seeded, SeededUser } from './seeded.ts';

const atOnce = 8;

interface Seeding {
  readonly urls: readonly string[];
  readonly population: Population;
  readonly onProgress?: (text: string) => void;
}

/**
 * All users get one password. A server with `E2E_TESTING` hashes it once, any other for each user.
 *
 * @throws Error, one line, with the server's answer
 */
export async function seed({ urls, population, onProgress = () => {} }: Seeding): Promise<Seeded> {
  const password = randomBytes(32).toString('hex');
  const make = async (what: string, count: number, notes: number, devices = 1) => {
    onProgress(`${count} ${what} with ${notes} notes each`);
    return someAtOnce(count, atOnce, (index) => {
      const url = urls[index % urls.length] ?? '';
      return seedUser(url, password, notes, devices);
    });
  };
  // One after the other: the first registration hashes the password for all.
  const { notesOfUser, notesOfLibrary } = population;
  return {
    password,
    idle: await make('idle users', population.idleUsers, notesOfUser),
    writing: await make('writing users', population.writingUsers, notesOfUser),
    watched: await make('watched users', population.watchedUsers, notesOfUser, 2),
    libraries: await make('libraries', population.libraries, notesOfLibrary),
  };
}

async function seedUser(url: string, password: string, notes: number, devices: number): Promise<SeededUser> {
  const account = await register(url, undefined, password);
  await upload(url, account, notes);
  const further: Account[] = [];
  while (further.length + 1 < devices) further.push(await signIn(url, account));
  return {
    email: account.email,
    accessTokens: [account, ...further].map(({ accessToken }) => accessToken),
    syncToken: await caughtUp(url, account),
    notes,
  };
}

/** Anyone who reads it is signed in as all of them. */
export function writeSeeded(file: string, seeded: Seeded): void {
  writeFileSync(file, JSON.stringify(seeded), { mode: 0o600 });
}
