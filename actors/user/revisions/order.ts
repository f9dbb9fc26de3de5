/** In which order the history of an item is listed, wherever it lies. */
interface Listed {
  readonly uuid: string;
  readonly created_at: string;
}

/** Those of one moment by their uuids, so that every list has them alike. */
export function newestFirst(a: Listed, b: Listed): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1;
  if (a.uuid === b.uuid) return 0;
  return a.uuid < b.uuid ? 1 : -1;
}
