/**
 * The resources that calendar programs read (docs/protocol/calendar.md, "The DAV surface"). They are below the base
 * path, and all are read-only. A calendar token is the password of HTTP Basic.
 */
import { z } from 'zod';
import { calendarBegin, calendarEnd, calendarOf } from '../../actors/icalendar.ts';
import { uidEscapedMax } from '../../actors/user/calendar/contract.ts';
import { OverloadedError } from '../../runtime/errors.ts';
import { asProgram, type Program, Proofs } from '../dav/program.ts';
import { type DescribedResource, httpDate, missingText, objectType, Responses } from '../dav/properties.ts';
import { readPropfind, readReport, unmetCondition, wantsData } from '../dav/requests.ts';
import { type Hrefs, type Resource, type ResourceKind, uidOf, uidOfHref } from '../dav/resources.ts';
import { declarations, RefusedRequest, UnreadableXml, xmlBegin, xmlType } from '../dav/xml.ts';
import {
  type AnyRoute,
  type Area,
  type BodyKind,
  type Method,
  type RequestContext,
  type RouteReply,
  route,
} from '../http/route.ts';
import type { RoutesOptions } from './options.ts';

const methods: readonly Method[] = ['OPTIONS', 'GET', 'HEAD', 'PROPFIND', 'REPORT'];
const bodyBytesMax = 256 * 1024;

/** The rules for everything below the path, refusals of the gateway included. */
export const davArea = (prefix: string, isOpen: boolean): Area => ({
  prefix,
  ownOptions: true,
  ...(isOpen && { methods }),
  replyHeaders: {
    DAV: '1, 3, calendar-access',
    'Cache-Control': 'private, no-cache',
    Vary: 'Origin, Authorization',
  },
});

type Context<B extends BodyKind = 'json'> = RequestContext<'public', B>;
interface PathParameters {
  readonly userUuid?: string | undefined;
  readonly file?: string | undefined;
}
type ResourceHandler<B extends BodyKind> = (
  context: Context<B>,
  program: Program,
  of: { readonly hrefs: Hrefs; readonly resource: Resource; readonly ctag: string },
) => Promise<RouteReply>;

const patterns: readonly (readonly [ResourceKind, string])[] = [
  ['root', ''],
  ['principals', '/principals'],
  ['principal', '/principals/:userUuid'],
  ['home', '/calendars/:userUuid'],
  ['todos', '/calendars/:userUuid/todos'],
  ['object', '/calendars/:userUuid/todos/:file'],
];

/** Empty if the operator has no calendar feed: then there is nothing below the path. */
export function davRoutes(options: RoutesOptions): readonly AnyRoute[] {
  const { basePath, publicUrl } = options.calendar;
  if (!options.settings.calendar) return [];
  const proving = { ...options, proofs: new Proofs() };
  const ownHosts = publicUrl === undefined ? [] : [new URL(publicUrl).host.toLowerCase()];
  const hostsOf = (context: Context<'bytes'>) => [
    ...ownHosts,
    ...[context.header('host')?.toLowerCase()].filter((host) => host !== undefined),
  ];

  const answering =
    <B extends BodyKind>(kind: ResourceKind, answer: ResourceHandler<B>) =>
    (context: Context<B>, { userUuid, file }: PathParameters): Promise<RouteReply> =>
      asProgram(context, proving, async (program) => {
        if (userUuid !== undefined && userUuid.toLowerCase() !== program.userUuid) return foreign;
        const resource = resourceOf(kind, file);
        if (resource === undefined) return unknown;
        const hrefs = { base: basePath, userUuid: program.userUuid };
        return answer(context, program, { hrefs, resource, ctag: program.ctag });
      });

  return patterns.flatMap(([kind, path]) => {
    const of = { path: `${basePath}${path}`, access: 'public', tag: 'Calendar programs' } as const;
    const common = {
      ...of,
      request: z.object({ userUuid: z.string().optional(), file: z.string().optional() }),
      parameterCharactersMax: uidEscapedMax,
    };
    const multistatus = { 207: { mediaType: xmlType } };
    const refusals = { 401: text, 403: text, 404: text, 429: text };
    return [
      route({
        ...common,
        method: 'OPTIONS',
        summary: 'What may be done with a resource.',
        headers: ['authorization'],
        replies: { 200: z.undefined(), ...refusals },
        handle: answering(kind, async () => ({ status: 200, headers: { Allow: methods.join(', ') } })),
      }),
      route({
        ...common,
        method: 'GET',
        safe: true,
        summary: 'A to-do, or all of them, as a calendar file.',
        headers: ['authorization', 'if-match', 'if-none-match'],
        replies: { 200: { mediaType: objectType }, ...refusals },
        handle: answering(kind, get),
      }),
      route({
        ...common,
        method: 'PROPFIND',
        body: 'bytes',
        bodyType: xmlType,
        bodyLimit: bodyBytesMax,
        summary: 'Properties of a resource, and of those in it.',
        headers: ['authorization', 'depth', 'content-type'],
        replies: { ...multistatus, ...refusals },
        handle: answering<'bytes'>(kind, propfind),
      }),
      route({
        ...common,
        method: 'REPORT',
        body: 'bytes',
        bodyType: xmlType,
        bodyLimit: bodyBytesMax,
        summary: 'To-dos that a query matches, or that are named.',
        headers: ['authorization', 'depth', 'content-type', 'host'],
        replies: { ...multistatus, ...refusals },
        handle: answering<'bytes'>(kind, (context, program, of) =>
          report(context, program, of, hostsOf(context)),
        ),
      }),
    ];
  });
}

const text = { mediaType: 'text/plain; charset=utf-8' };
const plainReply = (status: number, body: string): RouteReply => ({
  status,
  contentType: text.mediaType,
  body,
});

const foreign = plainReply(403, 'This is of somebody else.');
const unknown = plainReply(404, 'There is nothing here.');
const wrongDepth = plainReply(400, 'The depth is 0 or 1.');
const unreadable = plainReply(400, 'This XML cannot be read here.');
const noXml = plainReply(415, 'The body has to be XML.');

const refused = (status: number, element: string): RouteReply => ({
  status,
  contentType: xmlType,
  body: `${xmlBegin}<D:error${declarations}>${element}</D:error>`,
});

function resourceOf(kind: ResourceKind, file = ''): Resource | undefined {
  if (kind !== 'object') return { kind };
  const uid = uidOf(file);
  return uid === undefined ? undefined : { kind, uid };
}

// --- GET --------------------------------------------------------------------------------------------------------

type ResourceRequest = Parameters<ResourceHandler<'json'>>[2];

async function get(
  context: Context,
  program: Program,
  { resource, ctag }: ResourceRequest,
): Promise<RouteReply> {
  if (resource.kind === 'todos') return getAll(context, program, ctag);
  if (resource.kind !== 'object') return unknown;
  const [object] = await program.objects([resource.uid]);
  if (object === undefined) return unknown;
  const headers = { ETag: object.etag, 'Last-Modified': httpDate(object.updatedAt) };
  const unmet = unmetIn(context, object.etag);
  if (unmet !== undefined) return { status: unmet, headers };
  return { status: 200, contentType: objectType, body: calendarOf(object.component), headers };
}

/** All objects in one file. Files of the same version have the same bytes. */
async function getAll(context: Context, program: Program, ctag: string): Promise<RouteReply> {
  const headers = { ETag: `"${ctag}"` };
  const unmet = unmetIn(context, headers.ETag);
  if (unmet !== undefined) return { status: unmet, headers };
  const { ctag: listedCtag, objects } = await program.list();
  const around = Buffer.byteLength(calendarBegin + calendarEnd);
  const lengthBytes = objects.reduce((sum, { bytes }) => sum + bytes - around, around);
  async function* open(): AsyncGenerator<Uint8Array> {
    let begin = calendarBegin;
    for await (const { ctag: now, objects: part } of program.parts(objects)) {
      if (now !== listedCtag) throw new OverloadedError('the calendar changed while it was read');
      yield Buffer.from(begin + part.map(({ component }) => component).join(''));
      begin = '';
    }
    yield Buffer.from(begin + calendarEnd);
  }
  return {
    status: 200,
    contentType: objectType,
    stream: { open, lengthBytes },
    headers: { ETag: `"${listedCtag}"` },
  };
}

const unmetIn = (context: Context, etag: string) =>
  unmetCondition(etag, context.header('if-match'), context.header('if-none-match'));

// --- PROPFIND and REPORT ----------------------------------------------------------------------------------------

function isXml(context: Context<'bytes'>): boolean {
  const [type = ''] = (context.header('content-type') ?? '').split(';');
  return context.body.length === 0 || ['', 'text/xml', 'application/xml'].includes(type.trim().toLowerCase());
}

/** @throws errors of any other kind from `read` */
function understood<T>(context: Context<'bytes'>, read: (body: Uint8Array) => T): T | RouteReply {
  if (!isXml(context)) return noXml;
  try {
    return read(context.body);
  } catch (error) {
    if (error instanceof UnreadableXml) return unreadable;
    if (error instanceof RefusedRequest) return refused(403, error.element);
    throw error;
  }
}

const isReply = (read: object): read is RouteReply => 'status' in read;

async function propfind(
  context: Context<'bytes'>,
  program: Program,
  of: ResourceRequest,
): Promise<RouteReply> {
  const depth = (context.header('depth') ?? '0').trim().toLowerCase();
  if (depth === 'infinity') return refused(403, '<D:propfind-finite-depth/>');
  if (depth !== '0' && depth !== '1') return wrongDepth;
  const requested = understood(context, readPropfind);
  if (isReply(requested)) return requested;
  const { hrefs, resource, ctag } = of;
  const responses = new Responses(requested);
  if (resource.kind === 'object') {
    const [object] = await program.objects([resource.uid]);
    if (object === undefined) return unknown;
    // Reports ask for the object itself.
    const { component: _, ...listed } = object;
    return multistatus(responses, async function* () {
      yield responses.text({ ...of, object: listed });
    });
  }
  const members = depth === '1' ? (membersOf[resource.kind] ?? []) : [];
  const listed = depth === '1' && resource.kind === 'todos' ? await program.list() : undefined;
  return multistatus(responses, async function* () {
    yield responses.text({ ...of, ctag: listed?.ctag ?? ctag });
    for (const kind of members) yield responses.text({ hrefs, ctag, resource: { kind } });
    for (const object of listed?.objects ?? []) {
      yield responses.text({ hrefs, ctag, resource: { kind: 'object', uid: object.uid }, object });
    }
  });
}

const membersOf: Partial<Record<ResourceKind, readonly Exclude<ResourceKind, 'object'>[]>> = {
  root: ['principals', 'home'],
  principals: ['principal'],
  home: ['todos'],
};

async function report(
  context: Context<'bytes'>,
  program: Program,
  of: ResourceRequest,
  hosts: readonly string[],
): Promise<RouteReply> {
  const { hrefs, resource, ctag } = of;
  if (resource.kind !== 'todos' && resource.kind !== 'object') return refused(403, '<D:supported-report/>');
  const report = understood(context, readReport);
  if (isReply(report)) return report;
  const { requested } = report;
  const responses = new Responses(requested);
  const described = (object: NonNullable<DescribedResource['object']>): string =>
    responses.text({ hrefs, ctag, resource: { kind: 'object', uid: object.uid }, object });
  if (report.report === 'multiget') {
    const named = objectsNamed(report.hrefs, (href) => uidOfHref(hrefs, href, hosts));
    return multistatus(responses, () => namedTexts(program, named, described));
  }
  const { filter } = report;
  const isDepthZero = (context.header('depth') ?? '1').trim() === '0';
  if (filter === 'none' || (isDepthZero && resource.kind === 'todos')) return multistatus(responses, nothing);
  const { objects: all } = await program.list();
  const objects = resource.kind === 'object' ? all.filter(({ uid }) => uid === resource.uid) : all;
  if (filter === 'all' && !wantsData(requested)) {
    return multistatus(responses, async function* () {
      for (const object of objects) yield described(object);
    });
  }
  return multistatus(responses, async function* () {
    for await (const { objects: part } of program.parts(objects)) {
      for (const object of part) {
        if (filter === 'all' || filter(object.component)) yield described(object);
      }
    }
  });
}

async function* nothing(): AsyncGenerator<string> {}

interface NamedObject {
  readonly href: string;
  readonly uid: string | undefined;
}

/** Each object once: its address has many spellings, and an object is much longer than any of them. */
function objectsNamed(
  report: readonly string[],
  uidIn: (href: string) => string | undefined,
): readonly NamedObject[] {
  const named = new Map<string, NamedObject>();
  for (const href of report) {
    const uid = uidIn(href);
    const key = uid === undefined ? `href ${href}` : `uid ${uid}`;
    if (!named.has(key)) named.set(key, { href, uid });
  }
  return [...named.values()];
}

/** Writing one of the largest objects takes up to 10 ms, and blocks all other requests meanwhile. */
const concurrencyMax = 5;

/** In the order of the request. A missing object and another user's object look the same: neither is there. */
async function* namedTexts(
  program: Program,
  named: readonly NamedObject[],
  described: (object: NonNullable<DescribedResource['object']>) => string,
): AsyncGenerator<string> {
  for (let at = 0; at < named.length; at += concurrencyMax) {
    const part = named.slice(at, at + concurrencyMax);
    const uids = part.map(({ uid }) => uid).filter((uid) => uid !== undefined);
    const found = new Map((await program.objects(uids)).map((object) => [object.uid, object]));
    for (const { href, uid } of part) {
      const object = uid === undefined ? undefined : found.get(uid);
      yield object === undefined ? missingText(href) : described(object);
    }
  }
}

const chunkCharacters = 64 * 1024;

function multistatus(responses: Responses, texts: () => AsyncIterable<string>): RouteReply {
  async function* open(): AsyncGenerator<Uint8Array> {
    let waiting = `${xmlBegin}<D:multistatus${responses.declarations}>\n`;
    for await (const text of texts()) {
      waiting += text;
      if (waiting.length < chunkCharacters) continue;
      yield Buffer.from(waiting);
      waiting = '';
    }
    yield Buffer.from(`${waiting}</D:multistatus>`);
  }
  return { status: 207, contentType: xmlType, stream: { open } };
}
