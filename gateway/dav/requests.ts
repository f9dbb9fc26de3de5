/** The bodies of PROPFIND and REPORT, and the conditions of a request. */
import { compileFilter, type Filter } from './filter.ts';
import type { RequestedProperties } from './properties.ts';
import {
  childOf,
  childrenOf,
  type Element,
  isElement,
  namespaces,
  type QualifiedName,
  RefusedRequest,
  readXml,
  UnreadableXml,
} from './xml.ts';

/** The server looks each one up in every object. */
const namesMax = 100;
/** The most characters of all names, with their namespaces: the answer repeats the names that no resource has. */
const namesBytesMax = 8 * 1024;

/** @throws UnreadableXml */
export function readPropfind(body: Uint8Array): RequestedProperties {
  if (body.length === 0) return { type: 'usual' };
  const root = readXml(body);
  if (!isElement(root, 'D', 'propfind')) throw new UnreadableXml('no propfind');
  if (childOf(root, 'D', 'propname') !== undefined) return { type: 'names' };
  const prop = childOf(root, 'D', 'prop');
  return prop === undefined ? { type: 'usual' } : namedIn(prop);
}

export type DavReport =
  | { readonly report: 'query'; readonly requested: RequestedProperties; readonly filter: Filter }
  | {
      readonly report: 'multiget';
      readonly requested: RequestedProperties;
      readonly hrefs: readonly string[];
    };

const hrefsMax = 1_000;

/** @throws UnreadableXml, RefusedRequest */
export function readReport(body: Uint8Array): DavReport {
  const root = readXml(body);
  const isQuery = isElement(root, 'C', 'calendar-query');
  if (!isQuery && !isElement(root, 'C', 'calendar-multiget'))
    throw new RefusedRequest('<D:supported-report/>');
  const requested = requestedIn(root);
  if (isQuery) return { report: 'query', requested, filter: compileFilter(childOf(root, 'C', 'filter')) };
  const hrefs = new Set(childrenOf(root, 'D', 'href').map(({ text }) => text.trim()));
  if (hrefs.size === 0) throw new UnreadableXml('no href');
  if (hrefs.size > hrefsMax) throw new RefusedRequest('<D:number-of-matches-within-limits/>');
  return { report: 'multiget', requested, hrefs: [...hrefs] };
}

const calendarData: QualifiedName = { uri: namespaces.C, local: 'calendar-data' };
const ofReports: RequestedProperties = {
  type: 'named',
  names: [{ uri: namespaces.D, local: 'getetag' }, calendarData],
};

function requestedIn(root: Element): RequestedProperties {
  if (childOf(root, 'D', 'propname') !== undefined) return { type: 'names' };
  const prop = childOf(root, 'D', 'prop');
  if (prop === undefined) return ofReports;
  const data = childOf(prop, 'C', 'calendar-data')?.attributes;
  const isOurs =
    (data?.get('content-type') ?? 'text/calendar') === 'text/calendar' &&
    (data?.get('version') ?? '2.0') === '2.0';
  if (!isOurs) throw new RefusedRequest('<C:supported-calendar-data/>');
  return namedIn(prop);
}

function namedIn({ children }: Element): RequestedProperties {
  const names = new Map(children.map(({ uri, local }) => [`${uri} ${local}`, { uri, local }]));
  const bytes = [...names.keys()].reduce((sum, name) => sum + Buffer.byteLength(name), 0);
  if (names.size > namesMax || bytes > namesBytesMax) throw new UnreadableXml('too many properties');
  return { type: 'named', names: [...names.values()] };
}

/** Whether the answer needs the objects themselves. */
export const wantsData = (requested: RequestedProperties): boolean =>
  requested.type === 'named' &&
  requested.names.some(({ uri, local }) => uri === calendarData.uri && local === calendarData.local);

/** The status to answer instead of the representation, by `If-Match` and `If-None-Match`. */
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
function lists(header: string, etag: string, weakToo: boolean): boolean {
  if (header.trim() === '*') return true;
  if (header.length > 8_192 || !listForm.test(header)) return false;
  return (
    header.match(/(W\/)?"[^"]*"/g)?.some((each) => each === etag || (weakToo && each === `W/${etag}`)) ??
    false
  );
}
