/**
 * The resources below the base path and their addresses. They are always absolute paths in one spelling, whatever a
 * program wrote.
 */

export type Resource =
  | { readonly kind: 'root' | 'principals' | 'principal' | 'home' | 'todos' }
  | { readonly kind: 'object'; readonly uid: string };
export type ResourceKind = Resource['kind'];

export interface Hrefs {
  readonly base: string;
  readonly userUuid: string;
}

export function hrefOf({ base, userUuid }: Hrefs, resource: Resource): string {
  const home = `${base}/calendars/${userUuid}/`;
  switch (resource.kind) {
    case 'root':
      return `${base}/`;
    case 'principals':
      return `${base}/principals/`;
    case 'principal':
      return `${base}/principals/${userUuid}/`;
    case 'home':
      return home;
    case 'todos':
      return `${home}todos/`;
    case 'object':
      return `${home}todos/${escaped(resource.uid)}.ics`;
  }
}

/** All characters but those that RFC 3986 calls unreserved. */
const escaped = (uid: string): string =>
  encodeURIComponent(uid).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Undefined if the last segment of a path names no object. */
export const uidOf = (file: string): string | undefined =>
  file.length > '.ics'.length && file.endsWith('.ics') ? file.slice(0, -'.ics'.length) : undefined;

/**
 * The user's own object that a program names in a body, by a path or a full address of this server. Undefined for
 * anything else.
 */
export function uidOfHref(hrefs: Hrefs, href: string, hosts: readonly string[]): string | undefined {
  const path = pathOf(href, hosts);
  const todos = hrefOf(hrefs, { kind: 'todos' });
  const parts = path?.split('/').map(decoded);
  const file = parts?.pop();
  if (parts === undefined || file === undefined || parts.includes(undefined)) return undefined;
  if (`${parts.join('/')}/`.toLowerCase() !== todos.toLowerCase()) return undefined;
  return uidOf(file);
}

function pathOf(href: string, hosts: readonly string[]): string | undefined {
  const [, host, path] = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)$/i.exec(href) ?? [];
  if (host !== undefined && !hosts.includes(host.toLowerCase())) return undefined;
  return path;
}

/** One segment of a path. An escaped slash does not become a separator. */
function decoded(part: string): string | undefined {
  try {
    const text = decodeURIComponent(part);
    return text.includes('/') ? undefined : text;
  } catch {
    return undefined;
  }
}
