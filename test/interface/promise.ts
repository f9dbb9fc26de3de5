/** The test that proves something: its file and its title. */
export type Proof = readonly [file: string, title: string];

/** One sentence that clients, users and operators rely on, besides the rows. */
export interface Promised {
  readonly says: string;
  readonly provenBy: readonly Proof[];
}

/** A deliberate difference of this server, and its reason. A test proves the replacement behaviour if it is visible. */
export interface Difference {
  readonly says: string;
  readonly instead: string;
  readonly because: string;
  readonly provenBy?: readonly Proof[];
}
