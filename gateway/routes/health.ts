/**
 * The endpoints that probes and clients ask before anything else (docs/protocol/http.md, "Health and metadata"). None
 * of them uses the envelope or needs a session.
 */
import { z } from 'zod';
import { checkResults } from '../../runtime/readiness.ts';
import { type ProxyProbe, probeHeader } from '../admission/proxy-probe.ts';
import { unlimited } from '../admission/rate-limit.ts';
import { htmlType } from '../http/responder.ts';
import type { AnyRoute, RequestContext } from '../http/route.ts';
import { administrationPage } from '../pages/administration/page.ts';
import { administrationPath } from '../pages/administration/path.ts';
import type { HtmlPage } from '../pages/document.ts';
import { viewerPage } from '../pages/viewer/page.ts';
import { family } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

/** The descriptions of the API belong to this family, too. */
export const metadata = family({ tag: 'Health and metadata', enveloped: false });
const { route } = metadata;
const nothing = z.object({});
/** About as long as a probe waits. */
const notReadyRetrySeconds = 5;

type HealthOptions = Pick<RoutesOptions, 'readiness' | 'filesServerUrl' | 'captchaUiUrl' | 'proxyProbe'>;

export function healthRoutes(options: HealthOptions): readonly AnyRoute[] {
  const { readiness, filesServerUrl, captchaUiUrl, proxyProbe } = options;
  const body = {
    captchaUIUrl: captchaUiUrl,
    // Clients take `data` if there is one, and others read the bare field. This form serves both.
    data: { captchaUIUrl: captchaUiUrl },
    meta: { auth: {}, server: { filesServerUrl } },
  };

  const liveness = (path: string): AnyRoute =>
    route(`GET ${path}`, {
      safe: true,
      access: 'public',
      rate: unlimited,
      summary: 'Whether the process answers at all.',
      request: nothing,
      headers: probedHeaders,
      replies: { 200: z.literal('OK') },
      handle: async (context) => ({
        status: 200,
        contentType: 'text/plain; charset=utf-8',
        body: 'OK',
        headers: probeReply(context, proxyProbe),
      }),
    });

  return [
    liveness('/healthcheck'),
    liveness('/health'),
    route('GET /healthcheck/readiness', {
      safe: true,
      access: 'public',
      rate: unlimited,
      summary: 'Whether the process and all it depends on can serve requests.',
      request: nothing,
      replies: { 200: readinessBody('ready'), 503: readinessBody('not_ready') },
      handle: async () => {
        const { ready, checks } = await readiness.report();
        const body = { status: ready ? 'ready' : 'not_ready', checks };
        if (ready) return { status: 200, body };
        return { status: 503, body, headers: { 'Retry-After': String(notReadyRetrySeconds) } };
      },
    }),
    route('GET /v1/meta', {
      safe: true,
      access: 'public',
      summary: 'What a client should know of the server before it registers.',
      request: nothing,
      replies: { 200: metadataBody },
      handle: async () => ({ status: 200, body }),
    }),
    route('GET /robots.txt', {
      safe: true,
      access: 'public',
      summary: 'Keeps crawlers out.',
      request: nothing,
      replies: { 200: z.string() },
      handle: async () => ({
        status: 200,
        contentType: 'text/plain; charset=utf-8',
        body: 'User-agent: *\nDisallow: /\n',
      }),
    }),
  ];
}

const probedHeaders = [probeHeader, 'x-forwarded-for', 'x-forwarded-proto', 'host'];

function probeReply(
  context: RequestContext<'public'>,
  proxyProbe: ProxyProbe | undefined,
): Readonly<Record<string, string>> {
  const question = context.header(probeHeader);
  if (question === undefined || proxyProbe === undefined) return {};
  const answer = proxyProbe.answer(question, {
    address: context.client.ipAddress ?? '',
    forwardedFor: context.header('x-forwarded-for') ?? '',
    forwardedProto: context.header('x-forwarded-proto') ?? '',
    host: context.header('host') ?? '',
  });
  return answer === undefined ? {} : { [probeHeader]: answer };
}

const captcha = z.object({ captchaUIUrl: z.string().nullable() });
const metadataBody = captcha.extend({
  data: captcha,
  meta: z.object({ auth: z.object({}), server: z.object({ filesServerUrl: z.string() }) }),
});

const readinessBody = (status: string) =>
  z.object({ status: z.literal(status), checks: z.record(z.string(), z.enum(checkResults)) });

/** The page for people who open the server's address, or the link of a public share, in a browser. */
const page = `<!doctype html>
<html lang="en"><title>Scriptorium</title>
<p>This is a Scriptorium server for end-to-end encrypted notes. Put its address into your client as the sync server.
</html>
`;

export const frontPageRoute: AnyRoute = route('GET /', {
  safe: true,
  access: 'public',
  summary:
    'A page for people who open the address in a browser; with `shared`, the one that opens public shares.',
  request: z.object({ shared: z.string().optional() }),
  replies: { 200: z.string() },
  handle: async (_context, { shared }) => {
    if (shared === undefined) return { status: 200, contentType: htmlType, body: page };
    return documentReply(await viewerPage());
  },
});

export const administrationPageRoute: AnyRoute = route(`GET ${administrationPath}`, {
  safe: true,
  access: 'public',
  summary: 'The page for administrators. Served with `ADMINISTRATION_PAGE` alone.',
  request: z.object({}),
  replies: { 200: z.string() },
  handle: async () => documentReply(await administrationPage()),
});

const documentReply = ({ html, policy }: HtmlPage) => ({
  status: 200,
  contentType: htmlType,
  body: html,
  headers: { 'Content-Security-Policy': policy },
});
