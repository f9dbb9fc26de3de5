/** What the seeding writes, and load tests read: users with their sessions, as one JSON file. */

export interface SeededUser {
  readonly email: string;
  /** Of one session each: that of the first device, and of further ones. */
  readonly accessTokens: readonly string[];
  /** Of a device that had everything when it was written. */
  readonly syncToken: string;
  readonly notes: number;
}

export interface Seeded {
  /** All have the same one, so that it has to be hashed but once. */
  readonly password: string;
  readonly idle: readonly SeededUser[];
  readonly writing: readonly SeededUser[];
  readonly watched: readonly SeededUser[];
  readonly libraries: readonly SeededUser[];
}
