/** How much a run is: what is seeded for it, how much arrives and for how long, and what is good enough. */

export interface Population {
  /** Nobody writes to them, so that their syncs stay idle. */
  readonly idleUsers: number;
  readonly writingUsers: number;
  /** Two devices each: one saves, and the other hears of it. */
  readonly watchedUsers: number;
  /** What a new device has much to fetch from. */
  readonly libraries: number;
  readonly notesOfUser: number;
  readonly notesOfLibrary: number;
}

export interface Profile {
  readonly durationSeconds: number;
  /** Syncs that arrive in the steady mix. The other scenarios are shares and multiples of it. */
  readonly perSecond: number;
  /** Of what is one request to one user. Heavier operations have a multiple of it. */
  readonly p99Ms: number;
  /** The share of requests that may fail. */
  readonly errors: number;
  /** The share of arrivals that the machine that makes the load may be too slow for. */
  readonly dropped: number;
  readonly chunkBytes: number;
  readonly population: Population;
}

/** What encryption adds to a chunk of a file. */
export const addedBytes = 17;

export const profiles = {
  /** Everything works, on whatever machine. */
  smoke: {
    durationSeconds: 60,
    perSecond: 20,
    p99Ms: 2_000,
    errors: 0.01,
    dropped: 0.01,
    chunkBytes: 200_000 + addedBytes,
    population: {
      idleUsers: 20,
      writingUsers: 10,
      watchedUsers: 4,
      libraries: 2,
      notesOfUser: 5,
      notesOfLibrary: 300,
    },
  },
  /** Long enough to compare one build with another on the same machine. */
  ci: {
    durationSeconds: 120,
    perSecond: 100,
    p99Ms: 1_000,
    errors: 0.001,
    dropped: 0.001,
    chunkBytes: 5_000_000 + addedBytes,
    population: {
      idleUsers: 200,
      writingUsers: 50,
      watchedUsers: 20,
      libraries: 10,
      notesOfUser: 20,
      notesOfLibrary: 2_000,
    },
  },
  /** What a hosting team loads its cluster with before its users do. */
  full: {
    durationSeconds: 900,
    perSecond: 1_000,
    p99Ms: 500,
    errors: 0.001,
    dropped: 0.001,
    chunkBytes: 5_000_000 + addedBytes,
    population: {
      idleUsers: 2_000,
      writingUsers: 500,
      watchedUsers: 100,
      libraries: 50,
      notesOfUser: 50,
      notesOfLibrary: 10_000,
    },
  },
} as const satisfies Readonly<Record<string, Profile>>;

/** The memory of a machine that makes the load, by what a VU of these scripts takes. */
export const vusOfGigabyte = 300;
/** What a machine with 4 GB has room for. */
export const vusMaxOfMachine = 4 * vusOfGigabyte;

type ProfileName = keyof typeof profiles;

/** @throws Error, one line */
export function profileOf(name: string): Profile {
  if (!(name in profiles))
    throw new Error(`There is no profile ${name}: ${Object.keys(profiles).join(', ')}.`);
  return profiles[name as ProfileName];
}

/** What shows only after hours lasts longer than what shows at once. */
const timesAsLong: Readonly<Record<string, number>> = { soak: 20 };

/** @throws Error, one line */
export const durationSecondsOf = (scenario: string, profile: string): number =>
  profileOf(profile).durationSeconds * (timesAsLong[scenario] ?? 1);
