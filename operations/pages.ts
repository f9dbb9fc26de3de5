/**
 * Lists in pages. A page token is the key of the last row sent, and the next page begins with the first key after it.
 * So rows that come or go meanwhile shift nothing.
 */
import { invalidArgument } from './errors.ts';
import { limitField } from './fields.ts';

export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface Page<Row> {
  readonly rows: Row[];
  readonly nextPageToken: string;
}

/** `rows` are in the order of their keys. */
export function pageOf<Row>(
  rows: readonly Row[],
  { pageSize, pageToken }: PageRequest,
  isAfter: (row: Row) => boolean,
  keyOf: (row: Row) => string,
): Page<Row> {
  const limit = limitField('page_size', pageSize);
  const rest = pageToken === '' ? rows : rows.filter(isAfter);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const nextPageToken = last === undefined || rest.length <= limit ? '' : keyOf(last);
  return { rows: page, nextPageToken };
}

/** @throws CallError */
export function numberToken(pageToken: string): number {
  if (pageToken !== '' && !/^\d{1,9}$/.test(pageToken)) {
    throw invalidArgument('page_token was not issued by this list.');
  }
  return Number(pageToken);
}
