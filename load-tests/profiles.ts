/** The size of a run: what it seeds, how much arrives and for how long, and which results are good enough. */

export interface Population {
  /** Users whom nobody writes to, so that their syncs stay idle. */
  readonly idleUsers: number;
  readonly writingUsers: number;
  /** Users with two devices: one saves, and the other hears of it. */
  readonly watchedUsers: number;
  /** The items that a new device fetches. */
  readonly libraries: number;
  readonly notesOfUser: number;
  readonly notesOfLibrary: number;
}

export interface Profile {
  readonly durationSeconds: number;
  /** Syncs that arrive in the steady mix. The other scenarios are shares and multiples of it. */
  readonly perSecond: number;
  /** For one request to one user. Heavier operations have a multiple of it. */
  readonly p99Ms: number;
  /** The share of requests that may fail. */
  readonly errors: number;
  /** The share of arrivals that the load generator may be too slow for. */
  readonly dropped: number;
  readonly chunkBytes: number;
  readonly population: Population;
}

/** The overhead of encryption for a chunk of a file. */
export const addedBytes = 17;

export const profiles = {
  /** Checks that everything works, on any machine. */
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
  /** The load that a hosting team puts on its cluster before its users do. */
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

/** The memory of a load generator, divided by what a VU of these scripts takes. */
export const vusOfGigabyte = 300;
/** The capacity of a machine with 4 GB. */
export const vusMaxOfMachine = 4 * vusOfGigabyte;

type ProfileName = keyof typeof profiles;

/** @throws Error, one line */
export function profileOf(name: string): Profile {
  if (!(name in profiles))
    throw new Error(`There is no profile ${name}: ${Object.keys(profiles).join(', ')}.`);
  return profiles[name as ProfileName];
}

/** A problem that shows only after hours needs a longer run than one that shows at once. */
const timesAsLong: Readonly<Record<string, number>> = { soak: 20 };

/** @throws Error, one line */
export const durationSecondsOf = (scenario: string, profile: string): number =>
  profileOf(profile).durationSeconds * (timesAsLong[scenario] ?? 1);
