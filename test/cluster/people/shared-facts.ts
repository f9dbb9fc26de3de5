/** Facts that the people of one circle share without the server. */
export interface KnownFile {
  readonly uuid: string;
  readonly bytes: number;
  /** In any place. */
  readonly collections: Set<string>;
  isErased: boolean;
}

export class SharedFacts {
  readonly users = new Set<string>();
  readonly vaults = new Set<string>();
  readonly files: KnownFile[] = [];
}
