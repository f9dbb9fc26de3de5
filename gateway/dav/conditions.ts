/** Evaluates `If-Match` and `If-None-Match` against one ETag. */

/** The status to answer instead of the representation. */
export function unmetCondition(
  etag: string,
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): 304 | 412 | undefined {
  if (ifMatch !== undefined && !lists(ifMatch, etag, false)) return 412;
  if (ifNoneMatch !== undefined && lists(ifNoneMatch, etag, true)) return 304;
  return undefined;
}

const listForm = /^\s*(W\/)?"[^"]*"\s*(,\s*(W\/)?"[^"]*"\s*)*$/;

/** A malformed list names nothing. Weak tags never match where bytes must be equal. */
function lists(given: string, etag: string, weakToo: boolean): boolean {
  if (given.trim() === '*') return true;
  if (given.length > 8_192 || !listForm.test(given)) return false;
  return (
    given.match(/(W\/)?"[^"]*"/g)?.some((each) => each === etag || (weakToo && each === `W/${etag}`)) ?? false
  );
}
