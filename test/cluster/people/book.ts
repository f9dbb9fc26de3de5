/** What the people of one circle tell each other, past the server. */
export interface KnownFile {
  readonly uuid: string;
  readonly bytes: number;
  /** Wherever it may be. */
  readonly homes: Set<string>;
  isErased: boolean;
}

export class Book {
  readonly users = new Set<string>();
  readonly vaults = new Set<string>();
  readonly files: KnownFile[] = [];
}
