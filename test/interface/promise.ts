/** The test that proves something: its file and its title. */
export type Proof = readonly [file: string, title: string];

/** One sentence of what clients, users and operators rely on, beside the rows. */
export interface Promised {
  readonly says: string;
  readonly provenBy: readonly Proof[];
}

/** What this server does otherwise on purpose, and why. A test proves what it does instead, where that can be seen. */
export interface Difference {
  readonly says: string;
  readonly instead: string;
  readonly because: string;
  readonly provenBy?: readonly Proof[];
}
