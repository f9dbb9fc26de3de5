/** The properties of each resource, as XML (docs/protocol/calendar.md, "The DAV surface"). */
import { calendarOf } from '../../actors/icalendar.ts';
import type { ListedObject, WholeObject } from '../../actors/user/contract.ts';
import { type Hrefs, hrefOf, type Kind, type Resource } from './resources.ts';
import { elementText, type Name, namespaces, type Prefix, xmlText } from './xml.ts';

export const objectType = 'text/calendar; charset=utf-8; component=VTODO';

/** What is said of a resource. */
export interface Described {
  readonly hrefs: Hrefs;
  readonly resource: Resource;
  /** Of what is published. */
  readonly mark: string;
  /** Of an object; with its component where that is asked for. */
  readonly object?: ListedObject | WholeObject;
}

/** Without a value it is no property of the resource. */
type Value = (of: Described) => string | undefined;

const values = new Map<string, Value>();
/** Those that a program gets which names none. */
const usual: Name[] = [];

const keyOf = ({ uri, local }: Name): string => `${uri} ${local}`;

function property(prefix: Prefix, local: string, value: Value, isUsual = false): void {
  const name = { uri: namespaces[prefix], local };
  values.set(keyOf(name), value);
  if (isUsual) usual.push(name);
}

/** The same for all resources of a kind; of others it is no property. */
const byKind =
  (kinds: Partial<Record<Kind, Value | string>>): Value =>
  (of) => {
    const value = kinds[of.resource.kind];
    return typeof value === 'function' ? value(of) : value;
  };

const hrefText = (of: Described, resource: Resource): string =>
  `<D:href>${xmlText(hrefOf(of.hrefs, resource))}</D:href>`;
const principal: Value = (of) => hrefText(of, { kind: 'principal' });
const home: Value = (of) => hrefText(of, { kind: 'home' });

const reportsText = ['calendar-query', 'calendar-multiget']
  .map((report) => `<D:supported-report><D:report><C:${report}/></D:report></D:supported-report>`)
  .join('');
const privilegesText = ['read', 'read-current-user-privilege-set']
  .map((privilege) => `<D:privilege><D:${privilege}/></D:privilege>`)
  .join('');

property(
  'D',
  'resourcetype',
  byKind({
    ...{ root: '<D:collection/>', principals: '<D:collection/>', home: '<D:collection/>', object: '' },
    ...{ principal: '<D:collection/><D:principal/>', todos: '<D:collection/><C:calendar/>' },
  }),
  true,
);
property(
  'D',
  'displayname',
  byKind({
    ...{ root: 'Calendar feed', principals: 'Principals', home: 'Calendars', todos: 'Published to-dos' },
    principal: ({ hrefs }) => hrefs.userUuid,
  }),
  true,
);
property('D', 'current-user-principal', principal);
property('D', 'principal-collection-set', (of) => hrefText(of, { kind: 'principals' }));
property('D', 'principal-URL', byKind({ root: principal, principal }));
property('C', 'calendar-home-set', byKind({ root: home, principals: home, principal: home }));
property(
  'C',
  'calendar-user-address-set',
  byKind({
    principal: (of) => `<D:href>urn:uuid:${of.hrefs.userUuid}</D:href>${principal(of)}`,
  }),
);
property('D', 'owner', byKind({ home: principal, todos: principal, object: principal }));
property('D', 'current-user-privilege-set', () => privilegesText);
property('D', 'supported-report-set', ({ resource }) =>
  resource.kind === 'todos' || resource.kind === 'object' ? reportsText : '',
);
property('C', 'supported-calendar-component-set', byKind({ todos: '<C:comp name="VTODO"/>' }));
property(
  'C',
  'supported-calendar-data',
  byKind({ todos: '<C:calendar-data content-type="text/calendar" version="2.0"/>' }),
);
property('C', 'calendar-description', byKind({ todos: 'To-dos published from notes. Read-only.' }));
property('C', 'max-resource-size', byKind({ todos: '1048576' }));
property('CS', 'getctag', byKind({ todos: ({ mark }) => xmlText(mark) }));
property('D', 'getetag', ({ object }) => object && xmlText(object.etag), true);
property('D', 'getcontenttype', byKind({ object: objectType }), true);
property('D', 'getcontentlength', ({ object }) => object && String(object.bytes), true);
property('D', 'getlastmodified', ({ object }) => object && httpDate(object.updatedAt), true);
property('D', 'creationdate', ({ object }) => object && new Date(object.createdAt).toISOString(), true);
property('C', 'calendar-data', ({ object }) =>
  object !== undefined && 'component' in object ? xmlText(calendarOf(object.component)) : undefined,
);

export const httpDate = (ms: number): string => new Date(ms).toUTCString();

/** What a program asks for. */
export type Wanted =
  | { readonly type: 'usual' | 'names' }
  | { readonly type: 'named'; readonly names: readonly Name[] };

/** One `response` of a multistatus. */
export function responseText(of: Described, wanted: Wanted): string {
  const groups = wanted.type === 'names' ? namesOf(of) : valuesOf(of, wanted);
  const { found, missing } = groups;
  const propstats = [
    // With nothing at all there would be no status.
    ...(found.length > 0 || missing.length === 0 ? [propstat(found, '200 OK')] : []),
    ...(missing.length > 0 ? [propstat(missing, '404 Not Found')] : []),
  ];
  return `<D:response>${hrefText(of, of.resource)}${propstats.join('')}</D:response>\n`;
}

export const missingText = (href: string): string =>
  `<D:response><D:href>${xmlText(href)}</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>\n`;

interface Groups {
  readonly found: readonly string[];
  readonly missing: readonly string[];
}

function namesOf(of: Described): Groups {
  const found = [...values].filter(([, value]) => value(of) !== undefined);
  return { found: found.map(([key]) => elementText(nameOf(key))), missing: [] };
}

const nameOf = (key: string): Name => {
  const [uri = '', local = ''] = key.split(' ');
  return { uri, local };
};

function valuesOf(of: Described, wanted: Wanted): Groups {
  const names = wanted.type === 'named' ? wanted.names : usual;
  const found: string[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const value = values.get(keyOf(name))?.(of);
    if (value !== undefined) found.push(elementText(name, value));
    else if (wanted.type === 'named') missing.push(elementText(name));
  }
  return { found, missing };
}

const propstat = (properties: readonly string[], status: string): string =>
  `<D:propstat><D:prop>${properties.join('')}</D:prop><D:status>HTTP/1.1 ${status}</D:status></D:propstat>`;
