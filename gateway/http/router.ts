/**
 * From method and path to a route. Paths without parameters are found in one map look-up; the others by walking
 * their segments, a literal segment winning over a parameter. A trailing slash is tolerated. A path that could mean
 * something else to whoever stands in front of or behind this server (an escaped slash, a dot segment, an empty
 * segment, a broken escape, a control character) is refused and never interpreted.
 */
import { methodNotAllowed, type Refusal, refusals } from './refusal.ts';
import type { AnyRoute } from './route.ts';

export interface Match {
  readonly route: AnyRoute;
  /** Position of the route in the list the router was made from. */
  readonly index: number;
  /** Decoded path parameters by name; undefined when the route has none. */
  readonly parameters: Readonly<Record<string, string>> | undefined;
}

interface Endpoint {
  readonly route: AnyRoute;
  readonly index: number;
  readonly parameterNames: readonly string[];
  /** The whole answer when there are no parameters, so that finding such a route allocates nothing. */
  readonly match: Match;
}

/** By lower-case method, as uWebSockets.js says it. */
type Endpoints = Map<string, Endpoint>;

interface Node {
  readonly literals: Map<string, Node>;
  parameter: Node | undefined;
  readonly endpoints: Endpoints;
}

const segmentsMax = 16;
const parameterCharactersMax = 1_024;

export interface Router {
  /** `method` in lower case, `path` as sent, without the query. */
  find(method: string, path: string): Match | Refusal;
}

export const isMatch = (found: Match | Refusal): found is Match => 'route' in found;

export function createRouter(routes: readonly AnyRoute[]): Router {
  const literalPaths = new Map<string, Endpoints>();
  const root = emptyNode();
  routes.forEach((route, index) => {
    insert(route, index, root, literalPaths);
  });

  function endpointsOf(path: string): { endpoints: Endpoints; values: string[] } | Refusal {
    const literal = literalPaths.get(path);
    if (literal !== undefined) return { endpoints: literal, values: [] };
    const segments = decodeSegments(path);
    if (segments === undefined) return refusals.invalidPath;
    const values: string[] = [];
    const node = walk(root, segments, 0, values);
    return node === undefined ? refusals.unknownRoute : { endpoints: node.endpoints, values };
  }

  return {
    find(method, path) {
      const wanted = method === 'head' ? 'get' : method;
      const direct = literalPaths.get(path)?.get(wanted);
      if (direct !== undefined) return direct.match;
      const found = endpointsOf(path);
      if ('status' in found) return found;
      const endpoint = found.endpoints.get(wanted);
      if (endpoint === undefined) return methodNotAllowed(allowedMethods(found.endpoints));
      if (endpoint.parameterNames.length === 0) return endpoint.match;
      return {
        ...endpoint.match,
        parameters: Object.fromEntries(
          endpoint.parameterNames.map((name, i) => [name, found.values[i] ?? '']),
        ),
      };
    },
  };
}

function insert(route: AnyRoute, index: number, root: Node, literalPaths: Map<string, Endpoints>): void {
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
  const method = route.method.toLowerCase();
  if (node.endpoints.has(method)) throw new Error(`route ${route.method} ${route.path} is declared twice`);
  node.endpoints.set(method, {
    route,
    index,
    parameterNames,
    match: { route, index, parameters: undefined },
  });
  if (parameterNames.length > 0) return;
  literalPaths.set(route.path, node.endpoints);
  if (route.path !== '/') literalPaths.set(`${route.path}/`, node.endpoints);
}

const emptyNode = (): Node => ({ literals: new Map(), parameter: undefined, endpoints: new Map() });

/** Tries the literal way first and comes back to the parameter when it leads nowhere. */
function walk(node: Node, segments: readonly string[], depth: number, values: string[]): Node | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.endpoints.size > 0 ? node : undefined;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : walk(literal, segments, depth + 1, values);
  if (found !== undefined || node.parameter === undefined) return found;
  values.push(segment);
  const viaParameter = walk(node.parameter, segments, depth + 1, values);
  if (viaParameter === undefined) values.pop();
  return viaParameter;
}

/** The decoded segments of a path without its trailing slash, or undefined when the path is not to be trusted. */
function decodeSegments(path: string): string[] | undefined {
  if (path.charCodeAt(0) !== slash) return undefined;
  const trimmed = path.endsWith('/') ? path.slice(1, -1) : path.slice(1);
  const raw = trimmed.split('/', segmentsMax + 1);
  const decoded: string[] = [];
  for (const segment of raw) {
    const text = decodeSegment(segment);
    if (text === undefined) return undefined;
    decoded.push(text);
  }
  return decoded;
}

const slash = 0x2f;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const neverInSegment = /[/\\\u0000-\u001f\u007f]/;

function decodeSegment(segment: string): string | undefined {
  if (segment.length > parameterCharactersMax) return undefined;
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

const allowedMethods = (endpoints: Endpoints): string[] =>
  [...endpoints.keys()].map((method) => method.toUpperCase()).concat('OPTIONS');
