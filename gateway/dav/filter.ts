/**
 * Compiles the filter of a `calendar-query`: by the type of component, and by the text of the properties of a to-do. The server
 * refuses a filter that it cannot evaluate exactly, because calendar programs display everything that they receive.
 */
import { type Element, isElement, RefusedRequest } from './xml.ts';

/** `all` and `none`: the result is the same for every object, so no object is read. */
export type Filter = 'all' | 'none' | ((component: string) => boolean);
type PropertyTest = (properties: Properties) => boolean;
type Properties = ReadonlyMap<string, readonly PropertyValue[]>;

/** Limits of one query, because every text is searched for in every object. */
const elementsMax = 50;
const textCharactersMax = 1_024;

/** @throws RefusedRequest */
export function compileFilter(filter: Element | undefined): Filter {
  const [calendarFilter, ...others] = filter?.children ?? [];
  if (calendarFilter === undefined) return 'all';
  requireBounded(calendarFilter);
  if (!isElement(calendarFilter, 'C', 'comp-filter')) throw new RefusedRequest('<C:supported-filter/>');
  if (nameIn(calendarFilter) !== 'VCALENDAR' || others.length > 0)
    throw new RefusedRequest('<C:valid-filter/>');
  if (isNotDefined(calendarFilter)) return 'none';
  const parts = calendarFilter.children.map(compileComponentFilter);
  if (parts.includes('none')) return 'none';
  const tests = parts.filter((each) => typeof each === 'function');
  if (tests.length === 0) return 'all';
  return (component) => {
    const properties = propertiesOf(component);
    return tests.every((test) => test(properties));
  };
}

function requireBounded(filter: Element): void {
  const all = elementsOf(filter);
  const textCharacters = all
    .filter((each) => isElement(each, 'C', 'text-match'))
    .reduce((sum, { text }) => sum + text.length, 0);
  if (all.length > elementsMax || textCharacters > textCharactersMax) {
    throw new RefusedRequest('<C:supported-filter/>');
  }
}

const elementsOf = (filter: Element): readonly Element[] => [filter, ...filter.children.flatMap(elementsOf)];

/** Compiles a filter inside that of the calendar, which has to-dos and no other components. */
function compileComponentFilter(filter: Element): 'all' | 'none' | PropertyTest {
  if (!isElement(filter, 'C', 'comp-filter')) throw new RefusedRequest('<C:supported-filter/>');
  const isTodo = nameIn(filter) === 'VTODO';
  if (isNotDefined(filter)) return isTodo ? 'none' : 'all';
  // Compiled for every component, so that an unsupported filter is refused even where it does not matter.
  const tests = filter.children.map(compilePropertyFilter);
  if (!isTodo) return 'none';
  return tests.length === 0 ? 'all' : (properties) => tests.every((test) => test(properties));
}

function compilePropertyFilter(filter: Element): PropertyTest {
  if (!isElement(filter, 'C', 'prop-filter')) throw new RefusedRequest('<C:supported-filter/>');
  const name = nameIn(filter);
  if (isNotDefined(filter)) return (properties) => !properties.has(name);
  const matches = filter.children.map(textMatchOf);
  return (properties) =>
    properties.get(name)?.some((value) => matches.every((match) => match(value))) ?? false;
}

function textMatchOf(match: Element): (value: PropertyValue) => boolean {
  if (!isElement(match, 'C', 'text-match')) throw new RefusedRequest('<C:supported-filter/>');
  const collation = match.attributes.get('collation') ?? 'i;ascii-casemap';
  const isExact = collation === 'i;octet';
  if (!['i;octet', 'i;ascii-casemap', 'default'].includes(collation)) {
    throw new RefusedRequest('<C:supported-collation/>');
  }
  const expected = isExact ? match.text : asciiLowerCase(match.text);
  const isNegated = match.attributes.get('negate-condition') === 'yes';
  return (value) => (isExact ? value.text : value.lowerCase).includes(expected) !== isNegated;
}

const asciiLowerCase = (text: string): string =>
  text.replaceAll(/[A-Z]+/g, (characters) => characters.toLowerCase());

/** The value of a property. A query may search a long text fifty times, so its lower case is made once. */
class PropertyValue {
  readonly text: string;
  #lowerCase: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get lowerCase(): string {
    this.#lowerCase ??= asciiLowerCase(this.text);
    return this.#lowerCase;
  }
}

const nameIn = (filter: Element): string => (filter.attributes.get('name') ?? '').toUpperCase();

function isNotDefined({ children }: Element): boolean {
  return children.length === 1 && children.every((child) => isElement(child, 'C', 'is-not-defined'));
}

/** Parses only text that this server has written (`componentOf`), not iCalendar in general. */
function propertiesOf(component: string): Properties {
  const found = new Map<string, PropertyValue[]>();
  for (const line of component.replaceAll('\r\n ', '').split('\r\n')) {
    const [, name = '', value = ''] = /^([A-Z-]+)(?:;[^:]*)?:(.*)$/su.exec(line) ?? [];
    if (name === '' || name === 'BEGIN' || name === 'END') continue;
    found.set(name, [...(found.get(name) ?? []), new PropertyValue(unescaped(value))]);
  }
  return found;
}

const unescaped = (value: string): string =>
  value.replaceAll(/\\(.)/gs, (_, character) => (character === 'n' ? '\n' : character));
