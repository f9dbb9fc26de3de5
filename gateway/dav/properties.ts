/** The properties of each resource, as XML (docs/protocol/calendar.md, "The DAV surface"). */
import { calendarOf } from '../../actors/icalendar.ts';
import type { ListedObject, WholeObject } from '../../actors/user/calendar/contract.ts';
import { type Hrefs, hrefOf, type Resource, type ResourceKind } from './resources.ts';
import { Elements, namespaces, type Prefix, type QualifiedName, xmlText } from './xml.ts';

export const objectType = 'text/calendar; charset=utf-8; component=VTODO';

/** The facts about a resource. */
export interface DescribedResource {
  readonly hrefs: Hrefs;
  readonly resource: Resource;
  /** The version of what is published. */
  readonly ctag: string;
  /** The object, with its component if the program asks for that. */
  readonly object?: ListedObject | WholeObject;
}

/** A property without a value does not exist on the resource. */
type Value = (described: DescribedResource) => string | undefined;

const values = new Map<string, Value>();
const allNames: QualifiedName[] = [];
/** The properties for a program that names none. */
const usual: QualifiedName[] = [];

const keyOf = ({ uri, local }: QualifiedName): string => `${uri} ${local}`;

function property(prefix: Prefix, local: string, value: Value, isUsual = false): void {
  const name = { uri: namespaces[prefix], local };
  values.set(keyOf(name), value);
  allNames.push(name);
  if (isUsual) usual.push(name);
}

/** A value for all resources of a kind. Resources of other kinds lack the property. */
const byKind =
  (kinds: Partial<Record<ResourceKind, Value | string>>): Value =>
  (described) => {
    const value = kinds[described.resource.kind];
    return typeof value === 'function' ? value(described) : value;
  };

const hrefText = (described: DescribedResource, resource: Resource): string =>
  `<D:href>${xmlText(hrefOf(described.hrefs, resource))}</D:href>`;
const principal: Value = (described) => hrefText(described, { kind: 'principal' });
const home: Value = (described) => hrefText(described, { kind: 'home' });

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
    root: '<D:collection/>',
    principals: '<D:collection/>',
    home: '<D:collection/>',
    object: '',
    principal: '<D:collection/><D:principal/>',
    todos: '<D:collection/><C:calendar/>',
  }),
  true,
);
property(
  'D',
  'displayname',
  byKind({
    root: 'Calendar feed',
    principals: 'Principals',
    home: 'Calendars',
    todos: 'Published to-dos',
    principal: ({ hrefs }) => hrefs.userUuid,
  }),
  true,
);
property('D', 'current-user-principal', principal);
property('D', 'principal-collection-set', (described) => hrefText(described, { kind: 'principals' }));
property('D', 'principal-URL', byKind({ root: principal, principal }));
property('C', 'calendar-home-set', byKind({ root: home, principals: home, principal: home }));
property(
  'C',
  'calendar-user-address-set',
  byKind({
    principal: (described) => `<D:href>urn:uuid:${described.hrefs.userUuid}</D:href>${principal(described)}`,
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
property('CS', 'getctag', byKind({ todos: ({ ctag }) => xmlText(ctag) }));
property('D', 'getetag', ({ object }) => object && xmlText(object.etag), true);
property('D', 'getcontenttype', byKind({ object: objectType }), true);
property('D', 'getcontentlength', ({ object }) => object && String(object.bytes), true);
property('D', 'getlastmodified', ({ object }) => object && httpDate(object.updatedAt), true);
property('D', 'creationdate', ({ object }) => object && new Date(object.createdAt).toISOString(), true);
property('C', 'calendar-data', ({ object }) =>
  object !== undefined && 'component' in object ? xmlText(calendarOf(object.component)) : undefined,
);

export const httpDate = (ms: number): string => new Date(ms).toUTCString();

/** The properties that a program asks for. */
export type RequestedProperties =
  | { readonly type: 'usual' | 'names' }
  | { readonly type: 'named'; readonly names: readonly QualifiedName[] };

/**
 * Above this, only the first resource lists the names that no resource has. Otherwise a few kilobytes of request
 * would come back once for every object of a calendar.
 */
const repeatedCharactersMax = 2 * 1024;

/** The `response` elements of one multistatus. Parts that are the same in all of them are built once. */
export class Responses {
  readonly #elements: Elements;
  readonly #properties: readonly (readonly [QualifiedName, Value])[];
  readonly #type: RequestedProperties['type'];
  #unknownText: string;

  constructor(requested: RequestedProperties) {
    const names =
      requested.type === 'named' ? requested.names : requested.type === 'usual' ? usual : allNames;
    this.#type = requested.type;
    this.#elements = new Elements(names);
    const unknown = names.filter((name) => !values.has(keyOf(name)));
    this.#unknownText = unknown.map((name) => this.#elements.text(name)).join('');
    this.#properties = names.flatMap((name) => {
      const value = values.get(keyOf(name));
      return value === undefined ? [] : [[name, value] as const];
    });
  }

  /** The namespace declarations for the start tag of the multistatus. */
  get declarations(): string {
    return this.#elements.declarations;
  }

  text(described: DescribedResource): string {
    let found = '';
    let missing = '';
    for (const [name, valueIn] of this.#properties) {
      const value = valueIn(described);
      if (value !== undefined) found += this.#elements.text(name, this.#type === 'names' ? '' : value);
      else if (this.#type === 'named') missing += this.#elements.text(name);
    }
    missing += this.#unknownText;
    if (this.#unknownText.length > repeatedCharactersMax) this.#unknownText = '';
    // Without any property there would be no status.
    const propstats =
      (found !== '' || missing === '' ? propstat(found, '200 OK') : '') +
      (missing === '' ? '' : propstat(missing, '404 Not Found'));
    return `<D:response>${hrefText(described, described.resource)}${propstats}</D:response>\n`;
  }
}

export const missingText = (href: string): string =>
  `<D:response><D:href>${xmlText(href)}</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>\n`;

const propstat = (properties: string, status: string): string =>
  `<D:propstat><D:prop>${properties}</D:prop><D:status>HTTP/1.1 ${status}</D:status></D:propstat>`;
