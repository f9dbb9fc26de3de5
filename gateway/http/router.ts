/**
 * Finds the route for a method and a path. One map look-up finds a path without parameters; the others need a walk over their
 * segments, where a literal segment wins over a parameter. A trailing slash is tolerated.
 *
 * The router refuses a path that another program, in front of or behind this server, could read differently. That is an escaped
 * slash, a dot segment, an empty segment, a broken escape or a control character.
 */
import { type HttpRefusal, methodNotAllowed, refusals } from './refusal.ts';
import { type BaseHeaders, standardHeaders } from './reply-headers.ts';
import type { AnyRoute, Area } from './route.ts';

export interface Match {
  readonly route: AnyRoute;
  /** What every reply of the route carries. */
  readonly headers: BaseHeaders;
  /** The index of the route in the list that made the router. */
  readonly index: number;
  /** Decoded path parameters by name; undefined when the route has none. */
  readonly parameters: Readonly<Record<string, string>> | undefined;
}

interface Endpoint {
  readonly parameterNames: readonly string[];
  /** The whole answer if there are no parameters, so that finding such a route allocates nothing. */
  readonly match: Match;
}

/** Keyed by method in lower case, as uWebSockets.js reports it. */
type Endpoints = Map<string, Endpoint>;

interface RouteNode {
  readonly literals: Map<string, RouteNode>;
  parameter: RouteNode | undefined;
  readonly endpoints: Endpoints;
}

/** An area, as the router needs it. */
export interface RoutedArea {
  readonly headers: BaseHeaders;
  readonly ownOptions: boolean;
  readonly methods: readonly string[] | undefined;
}

const segmentsMax = 16;
const defaultParameterCharactersMax = 1_024;

export interface Router {
  /** `method` in lower case, `path` as the client sent it, without the query. */
  find(method: string, path: string): Match | HttpRefusal;
  /** The rules for a path, whether a route answers there or not. */
  areaOf(path: string): RoutedArea;
}

export const isMatch = (matchOf: Match | HttpRefusal): matchOf is Match => 'route' in matchOf;

const nowhere: RoutedArea = { headers: standardHeaders, ownOptions: false, methods: undefined };

export function createRouter(routes: readonly AnyRoute[], areas: readonly Area[] = []): Router {
  const literalPaths = new Map<string, Endpoints>();
  const root = emptyNode();
  const segmentCharactersMax = Math.max(
    defaultParameterCharactersMax,
    ...routes.map((route) => parameterCharactersMaxOf(route)),
  );
  // The longest first, because an area may lie in another.
  const known = areas
    .map(({ prefix, replyHeaders, ownOptions = false, methods }) => ({
      prefix,
      area: { headers: standardHeaders.with(replyHeaders), ownOptions, methods },
    }))
    .sort((one, other) => other.prefix.length - one.prefix.length);

  function areaOf(path: string): RoutedArea {
    const plain = path.includes('%') ? unescaped(path) : path;
    return known.find(({ prefix }) => plain === prefix || plain.startsWith(`${prefix}/`))?.area ?? nowhere;
  }

  function unescaped(path: string): string {
    const segments = decodeAll(segmentsOf(path) ?? [], segmentCharactersMax);
    return segments === undefined ? path : `/${segments.join('/')}`;
  }

  routes.forEach((route, index) => {
    const area = areaOf(route.path);
    requireConsistent(route, area);
    const headers = area.headers.with(route.replyHeaders);
    insert({ route, index, headers, parameters: undefined }, root, literalPaths);
  });

  function matchOf(path: string): PathMatch | HttpRefusal {
    const literal = literalPaths.get(path);
    if (literal !== undefined) return { endpoints: literal, values: [], charactersMax: 0 };
    const raw = segmentsOf(path);
    const segments = raw === undefined ? undefined : decodeAll(raw, segmentCharactersMax);
    if (raw === undefined || segments === undefined) return refusals.invalidPath;
    const values: string[] = [];
    const node = walk(root, segments, 0, values);
    if (node === undefined) return refusals.unknownRoute;
    return { endpoints: node.endpoints, values, charactersMax: longest(raw) };
  }

  return {
    areaOf: known.length === 0 ? () => nowhere : areaOf,
    find(method, path) {
      const direct = literalPaths.get(path)?.get(method);
      if (direct !== undefined) return direct.match;
      const { methods } = known.length === 0 ? nowhere : areaOf(path);
      if (methods !== undefined && !methods.includes(method.toUpperCase())) return methodNotAllowed(methods);
      const matched = matchOf(path);
      if ('status' in matched) return matched;
      const endpoint = matched.endpoints.get(method);
      if (endpoint === undefined) {
        return methodNotAllowed(allowedMethods(matched.endpoints, areaOf(path).ownOptions));
      }
      const { match, parameterNames } = endpoint;
      if (parameterNames.length === 0) return match;
      if (matched.charactersMax > parameterCharactersMaxOf(match.route)) return refusals.invalidPath;
      return {
        ...match,
        parameters: Object.fromEntries(
          parameterNames.map((name, i) => [name, inNormalForm(name, matched.values[i] ?? '')]),
        ),
      };
    },
  };
}

/**
 * A uuid that the server has made has one spelling from here on. An answer about an item repeats the uuid as its
 * client spells it: docs/protocol/sync.md, "Values". Other identifiers keep the spelling of their makers.
 */
const inNormalForm = (name: string, value: string): string =>
  name !== 'itemUuid' && /uuid$/i.test(name) ? value.toLowerCase() : value;

/** The result of a path. */
interface PathMatch {
  readonly endpoints: Endpoints;
  readonly values: readonly string[];
  /** Length of the longest segment as the client sent it. */
  readonly charactersMax: number;
}

const parameterCharactersMaxOf = (route: AnyRoute): number =>
  route.parameterCharactersMax ?? defaultParameterCharactersMax;

/** Checks at the start that the parts of a declaration fit together. Later a mistake would go unnoticed. */
function requireConsistent(route: AnyRoute, area: RoutedArea): void {
  const name = `route ${route.method} ${route.path}`;
  if (route.safe && route.method !== 'GET') throw new Error(`${name} is not a GET, so it cannot be safe`);
  if (route.method === 'OPTIONS' && !area.ownOptions) {
    throw new Error(`${name} would never be called: OPTIONS is a preflight there`);
  }
  if (route.access === 'public' && route.rate?.by === 'user') {
    throw new Error(`${name} is public, so it has no users to count by`);
  }
  const hasBody = route.body !== undefined && route.body !== 'json';
  if (hasBody && (route.method === 'GET' || route.method === 'HEAD')) {
    throw new Error(`${name} takes a body, which its method has none of`);
  }
}

function insert(match: Match, root: RouteNode, literalPaths: Map<string, Endpoints>): void {
  const { route } = match;
  const parameterNames: string[] = [];
  let node = root;
  const segments = route.path === '/' ? [] : route.path.slice(1).split('/');
  if (segments.length > segmentsMax) throw new Error(`route ${route.path} has too many segments`);
  for (const segment of segments) {
    if (segment.startsWith(':')) {
      parameterNames.push(segment.slice(1));
      node.parameter ??= emptyNode();
      node = node.parameter;
      continue;
    }
    const next = node.literals.get(segment) ?? emptyNode();
    node.literals.set(segment, next);
    node = next;
  }
  for (const method of answeredMethods(route)) {
    if (node.endpoints.has(method)) {
      throw new Error(`route ${method.toUpperCase()} ${route.path} is declared twice`);
    }
    node.endpoints.set(method, { parameterNames, match });
  }
  if (parameterNames.length > 0) return;
  literalPaths.set(route.path, node.endpoints);
  if (route.path !== '/') literalPaths.set(`${route.path}/`, node.endpoints);
}

const answeredMethods = (route: AnyRoute): readonly string[] =>
  route.safe ? ['get', 'head'] : [route.method.toLowerCase()];

const emptyNode = (): RouteNode => ({ literals: new Map(), parameter: undefined, endpoints: new Map() });

/** Tries the literal segment first, and returns to the parameter if that leads nowhere. */
function walk(
  node: RouteNode,
  segments: readonly string[],
  depth: number,
  values: string[],
): RouteNode | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.endpoints.size > 0 ? node : undefined;
  const literal = node.literals.get(segment);
  const matchOf = literal === undefined ? undefined : walk(literal, segments, depth + 1, values);
  if (matchOf !== undefined || node.parameter === undefined) return matchOf;
  values.push(segment);
  const viaParameter = walk(node.parameter, segments, depth + 1, values);
  if (viaParameter === undefined) values.pop();
  return viaParameter;
}

/** The segments of a path without its trailing slash, as sent. Undefined if it is not a path. */
function segmentsOf(path: string): readonly string[] | undefined {
  if (path.charCodeAt(0) !== slash) return undefined;
  const trimmed = path.endsWith('/') ? path.slice(1, -1) : path.slice(1);
  return trimmed.split('/', segmentsMax + 1);
}

/** Undefined if the path cannot be trusted. */
function decodeAll(raw: readonly string[], charactersMax: number): string[] | undefined {
  const decoded: string[] = [];
  for (const segment of raw) {
    const text = segment.length > charactersMax ? undefined : decodeSegment(segment);
    if (text === undefined) return undefined;
    decoded.push(text);
  }
  return decoded;
}

const longest = (segments: readonly string[]) => Math.max(...segments.map(({ length }) => length));

const slash = 0x2f;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const neverInSegment = /[/\\\u0000-\u001f\u007f]/;

function decodeSegment(segment: string): string | undefined {
  const text = segment.includes('%') ? decodeEscapes(segment) : segment;
  if (text === undefined || text === '' || text === '.' || text === '..') return undefined;
  return neverInSegment.test(text) ? undefined : text;
}

function decodeEscapes(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function allowedMethods(endpoints: Endpoints, ownOptions: boolean): string[] {
  const allowed = [...endpoints.keys()].map((method) => method.toUpperCase());
  return ownOptions ? allowed : [...allowed, 'OPTIONS'];
}
