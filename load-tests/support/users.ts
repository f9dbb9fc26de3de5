/** The seeded users. Kept once for all VUs. */
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import type { Seeded, SeededUser } from '../seeded.ts';
import { baseUrls, usersFile } from './environment.ts';

const listed = (name: 'idle' | 'writing' | 'watched' | 'libraries') =>
  new SharedArray<SeededUser>(name, () => [...(JSON.parse(open(usersFile)) as Seeded)[name]]);

export const idleUsers = listed('idle');
export const writingUsers = listed('writing');
export const watchedUsers = listed('watched');
export const libraries = listed('libraries');

const passwords = new SharedArray<string>('password', () => [
  (JSON.parse(open(usersFile)) as Seeded).password,
]);
export const password = (): string => nth(passwords, 0);

function nth<T>(list: readonly T[], index: number): T {
  const one = list[index % list.length];
  if (one === undefined) throw new Error('The file of users has none of these: seed again.');
  return one;
}

/** One after the other, over all participating machines. */
export const nextOf = (users: readonly SeededUser[]): SeededUser => nth(users, exec.scenario.iterationInTest);

/** Always the same one for this VU. */
export const ownOf = (users: readonly SeededUser[]): SeededUser => nth(users, exec.vu.idInTest - 1);

/** The gateway of this VU. */
export const baseUrl = (): string => nth(baseUrls, exec.vu.idInTest);
