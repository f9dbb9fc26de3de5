interface ListedRevision {
  readonly uuid: string;
  readonly created_at: string;
}

/** Orders the history of an item. Revisions of one moment follow by uuid, so every list has the same order. */
export function compareNewestFirst(a: ListedRevision, b: ListedRevision): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1;
  if (a.uuid === b.uuid) return 0;
  return a.uuid < b.uuid ? 1 : -1;
}
