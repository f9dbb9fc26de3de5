/** The seeded users with their sessions, as one JSON file, which load tests read. */

export interface SeededUser {
  readonly email: string;
  /** For one session each: that of the first device, and those of further ones. */
  readonly accessTokens: readonly string[];
  /** The token of a device that had everything at the time of writing. */
  readonly syncToken: string;
  readonly notes: number;
}

export interface Seeded {
  /** All have the same one, so that it needs only one hash. */
  readonly password: string;
  readonly idle: readonly SeededUser[];
  readonly writing: readonly SeededUser[];
  readonly watched: readonly SeededUser[];
  readonly libraries: readonly SeededUser[];
}
