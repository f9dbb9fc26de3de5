/**
 * Turns a file into a commit at the operator's code host (docs/protocol/code-host.md). It uses the contents interface
 * of GitHub, which Gitea and Forgejo also have. It looks at the file, then puts it, with the id of the file that it
 * replaces, if there is one.
 * - Only the operator chooses the host. The server follows no redirect, so the token goes nowhere else.
 * - The server neither keeps nor passes on the token, the file, or what the host says about them.
 */
import { OutboundError, type OutboundHttp, type OutboundRequest } from '../../actors/outbound/http.ts';
import { type Publishing, type RefusedPublishing, refusePublishing } from './publishing-request.ts';

const timeoutMs = 15_000;
/** The host sends a file back as base64 inside JSON. */
const answerBytesMax = 4 * 1_048_576;
const linkCharactersMax = 4_096;
/** The wait if the host refuses for now without saying for how long, and the longest that it may say. */
const retryMs = 60_000;
const retryMaxMs = 3_600_000;

export interface Publication {
  readonly created: boolean;
  readonly path: string;
  readonly contentUrl?: string;
  readonly commitUrl?: string;
}

export interface CodeHostOptions {
  readonly http: OutboundHttp;
  /** The base address of the interface: `https://api.github.com`, or one that ends in `/api/v1`. */
  readonly apiUrl: string;
}

const badToken = refusePublishing(403, 'The code host does not accept this access token.', 'bad-token');
const forbidden = refusePublishing(403, 'The code host does not let this token do that.', 'forbidden');
const notFound = refusePublishing(
  404,
  'There is no such repository or branch that this token may see.',
  'repo-not-found',
);
const conflict = refusePublishing(
  409,
  'The file or its branch has changed meanwhile. Please try again.',
  'conflict',
);
const unprocessable = refusePublishing(422, 'The code host cannot make a commit of this.', 'unprocessable');
const isDirectory = refusePublishing(422, 'There is a directory at this path.', 'path-is-directory');
const tooLarge = refusePublishing(422, 'The file at this path is too large to be replaced.', 'unprocessable');
const failed = refusePublishing(
  502,
  'The code host did not answer as it should. The file may be there, or not.',
  'code-host-error',
);

interface HostAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly json: unknown;
}

/** What is at the path: the id of a file, nothing (null), or why the server does not know. */
type FileLookup = { readonly sha: string | null } | RefusedPublishing;

export class CodeHost {
  readonly #options: CodeHostOptions;

  constructor(options: CodeHostOptions) {
    this.#options = options;
  }

  async publish(publishing: Publishing, signal: AbortSignal): Promise<Publication | RefusedPublishing> {
    const found = await this.#find(publishing, signal);
    if ('refused' in found) return found;
    const put = await this.#put(publishing, found.sha, signal);
    if ('refused' in put) return put;
    if (put.status === 422 || (put.status === 404 && found.sha !== null))
      return this.#whyRefused(put, publishing, found.sha, signal);
    if (isOutdated(put)) return conflict;
    if (put.status !== 200 && put.status !== 201) return refusalOf(put);
    const { path } = publishing;
    const contentUrl = linkAt(put.json, 'content', 'html_url');
    const commitUrl = linkAt(put.json, 'commit', 'html_url');
    return {
      created: found.sha === null,
      path,
      ...(contentUrl !== undefined && { contentUrl }),
      ...(commitUrl !== undefined && { commitUrl }),
    };
  }

  async #find(publishing: Publishing, signal: AbortSignal): Promise<FileLookup> {
    const url = `${this.#urlOf(publishing)}?ref=${encodeURIComponent(publishing.branch)}`;
    const answer = await this.#call({ url, method: 'GET', signal }, publishing);
    if ('refused' in answer) return answer;
    if (answer.status === 404) return { sha: null };
    if (answer.status !== 200) return refusalOf(answer);
    if (Array.isArray(answer.json)) return isDirectory;
    const sha = fieldOf(answer.json, 'sha');
    return typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha) ? { sha } : failed;
  }

  #put(publishing: Publishing, sha: string | null, signal: AbortSignal) {
    const { message, content, branch } = publishing;
    const body = {
      message,
      content: Buffer.from(content).toString('base64'),
      branch,
      ...(sha !== null && { sha }),
    };
    const url = this.#urlOf(publishing);
    return this.#call({ url, method: 'PUT', body: JSON.stringify(body), signal }, publishing);
  }

  /**
   * GitHub says 409 here. Gitea says 422, or 404 when the file is gone, and uses both for other things too. What
   * decides is whether the file is still the one to be replaced.
   */
  async #whyRefused(
    put: HostAnswer,
    publishing: Publishing,
    sha: string | null,
    signal: AbortSignal,
  ): Promise<RefusedPublishing> {
    const now = await this.#find(publishing, signal);
    if ('refused' in now) return now === isDirectory ? conflict : refusalOf(put);
    return now.sha === sha ? refusalOf(put) : conflict;
  }

  async #call(
    request: Pick<OutboundRequest, 'url' | 'method' | 'body' | 'signal'>,
    { token }: Publishing,
  ): Promise<HostAnswer | RefusedPublishing> {
    const headers = {
      authorization: `Bearer ${token}`,
      'user-agent': 'scriptorium',
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      ...(request.body !== undefined && { 'content-type': 'application/json' }),
    };
    try {
      const {
        status,
        headers: answerHeaders,
        body,
      } = await this.#options.http.send({
        destination: 'fixed',
        headers,
        timeoutMs,
        answerBytesMax,
        ...request,
      });
      return { status, retryAfter: answerHeaders.get('retry-after'), json: parsed(body) };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return error.failure === 'too-large' && request.method === 'GET' ? tooLarge : failed;
    }
  }

  #urlOf({ owner, repo, path }: Publishing): string {
    const segments = ['repos', owner, repo, 'contents', ...path.split('/')].map(encodeURIComponent);
    return `${this.#options.apiUrl}/${segments.join('/')}`;
  }
}

/**
 * When two commits to a branch come at the same time, Gitea refuses one with Git's message and the status of a
 * forbidden request.
 */
const isOutdated = ({ status, json }: HostAnswer): boolean =>
  status === 403 && /^cannot lock ref /.test(String(fieldOf(json, 'message')));

/** Clients of this server read these statuses as: the account is locked, the access token has expired. */
const readAsOurs: ReadonlySet<number> = new Set([423, 498]);

/** A status outside the interface, or with another meaning in our own answers, is not passed on. */
function refusalOf({ status, retryAfter }: HostAnswer): RefusedPublishing {
  if (status === 401) return badToken;
  if (status === 403) return forbidden;
  if (status === 404) return notFound;
  if (status === 409) return conflict;
  if (status === 422) return unprocessable;
  if (status < 400 || status >= 500 || readAsOurs.has(status)) return failed;
  const refused = refusePublishing(status, 'The code host has refused this.', 'code-host-error');
  return status === 429
    ? { refused: { ...refused.refused, retryAfterMs: retryAfterMs(retryAfter) } }
    : refused;
}

/** Reads a `Retry-After` in seconds. No host sends dates. */
const retryAfterMs = (header = ''): number =>
  /^\d{1,6}$/.test(header) ? Math.min(Math.max(Number(header), 1) * 1_000, retryMaxMs) : retryMs;

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** Clients show it as a link, so only https is allowed. */
function linkAt(json: unknown, ...[outer, inner]: readonly [string, string]): string | undefined {
  const link = fieldOf(fieldOf(json, outer), inner);
  const isLink =
    typeof link === 'string' && link.length <= linkCharactersMax && /^https:\/\/[\x21-\x7e]+$/.test(link);
  return isLink && URL.canParse(link) ? link : undefined;
}
