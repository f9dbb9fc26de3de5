/**
 * Fakes of the two code hosts that this server knows how to speak to, GitHub and Gitea, made from what they document: the contents of
 * one repository with one branch, behind tokens. What differs between them is in `dialects`.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export type Dialect = 'github' | 'gitea';

interface Answered {
  readonly status: number;
  readonly body?: object;
}

interface DialectRules {
  readonly base: string;
  readonly staleSha: Answered;
  readonly existsAlready: Answered;
}

/** Where the two answer the same question otherwise. */
const dialects: Readonly<Record<Dialect, DialectRules>> = {
  github: {
    base: '',
    staleSha: { status: 409, body: { message: 'note.md does not match 4b825dc' } },
    existsAlready: { status: 422, body: { message: 'Invalid request.\n\n"sha" wasn\'t supplied.' } },
  },
  gitea: {
    base: '/api/v1',
    staleSha: { status: 422, body: { message: 'sha does not match [given: 4b825dc, expected: 5e1c309]' } },
    existsAlready: { status: 422, body: { message: 'repository file already exists [path: note.md]' } },
  },
};

export const writer = 'token-that-may-write';
export const reader = 'token-that-may-read';

export interface AskedOfCodeHost {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export async function startCodeHostServer(t: ExecutionContext, dialect: Dialect) {
  const rules = dialects[dialect];
  const files = new Map<string, string>();
  const asked: AskedOfCodeHost[] = [];
  const state: {
    /** Instead of an answer. */
    answer: ((response: ServerResponse, request: AskedOfCodeHost) => boolean) | undefined;
    /** Called before each PUT, as if somebody else had been faster. */
    beforePut: (() => void) | undefined;
  } = { answer: undefined, beforePut: undefined };
  const shaOf = (content: string) =>
    createHash('sha1')
      .update(`blob ${Buffer.byteLength(content)}\0${content}`)
      .digest('hex');
  const shown = (path: string, content: string) => ({
    ...{ type: 'file', path, sha: shaOf(content), content: Buffer.from(content).toString('base64') },
    html_url: `https://code.test/o/r/blob/main/${path.split('/').map(encodeURIComponent).join('/')}`,
  });

  function get(path: string, ref: string | null): Answered {
    if (ref !== 'main') return { status: 404, body: { message: 'No commit found for the ref' } };
    const content = files.get(path);
    if (content !== undefined) return { status: 200, body: shown(path, content) };
    const below = [...files.keys()].filter((each) => each.startsWith(`${path}/`));
    if (below.length > 0) return { status: 200, body: below.map((each) => ({ type: 'file', path: each })) };
    return { status: 404, body: { message: 'Not Found' } };
  }

  function put(path: string, given: string): Answered {
    state.beforePut?.();
    const { content, sha, branch } = JSON.parse(given);
    if (branch !== 'main') return { status: 404, body: { message: 'Branch not found' } };
    const before = files.get(path);
    if (before !== undefined && sha === undefined) return rules.existsAlready;
    if (sha !== undefined && (before === undefined || shaOf(before) !== sha)) return rules.staleSha;
    files.set(path, Buffer.from(content, 'base64').toString());
    const commit = { sha: 'c'.repeat(40), html_url: 'https://code.test/o/r/commit/cccc' };
    return {
      status: before === undefined ? 201 : 200,
      body: { content: shown(path, files.get(path) ?? ''), commit },
    };
  }

  function answerOf({ method, url, headers, body }: AskedOfCodeHost): Answered {
    const { pathname, searchParams } = new URL(url, 'http://here');
    const token = headers.authorization?.replace('Bearer ', '');
    if (token !== writer && token !== reader) return { status: 401, body: { message: 'Bad credentials' } };
    const prefix = `${rules.base}/repos/o/r/contents/`;
    if (!pathname.startsWith(prefix)) return { status: 404, body: { message: 'Not Found' } };
    const path = pathname.slice(prefix.length).split('/').map(decodeURIComponent).join('/');
    if (method === 'GET') return get(path, searchParams.get('ref'));
    if (token === reader) return { status: 403, body: { message: 'Resource not accessible' } };
    return put(path, body);
  }

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body };
    asked.push(one);
    if (state.answer?.(response, one)) return;
    const { status, body: answer } = answerOf(one);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { apiUrl: `http://127.0.0.1:${port}${rules.base}`, files, asked, state };
}
