/**
 * Fakes of the two supported code hosts, built from GitHub's documentation and from Gitea's behaviour
 * (test/counterparts/gitea.run.ts). They serve the contents of one repository with one branch, behind tokens. `dialects` holds
 * their differences.
 */
import { createHash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { type CodeHostRepository, type CodeHostRequest, startCodeHostServer } from './code-host-server.ts';

export type Dialect = 'github' | 'gitea';

interface HostAnswer {
  readonly status: number;
  readonly body?: object;
}

interface DialectRules {
  readonly base: string;
  /** The part of a file's URL before its path. */
  readonly pages: string;
  readonly staleSha: HostAnswer;
  /** A sha that names no file. */
  readonly goneAlready: HostAnswer;
  readonly existsAlready: HostAnswer;
  readonly belowFile: HostAnswer;
}

/** The points where the two answer the same question differently. */
const dialects: Readonly<Record<Dialect, DialectRules>> = {
  github: {
    base: '',
    pages: 'https://code.test/o/r/blob/main',
    staleSha: { status: 409, body: { message: 'note.md does not match 4b825dc' } },
    goneAlready: { status: 409, body: { message: 'note.md does not match 4b825dc' } },
    existsAlready: { status: 422, body: { message: 'Invalid request.\n\n"sha" wasn\'t supplied.' } },
    belowFile: { status: 422, body: { message: 'Validation Failed' } },
  },
  gitea: {
    base: '/api/v1',
    pages: 'https://code.test/o/r/src/branch/main',
    staleSha: { status: 422, body: { message: 'sha does not match [given: 4b825dc, expected: 5e1c309]' } },
    goneAlready: { status: 404, body: { message: 'object does not exist [id: , rel_path: note.md]' } },
    existsAlready: { status: 422, body: { message: 'repository file already exists [path: note.md]' } },
    belowFile: {
      status: 422,
      body: { message: 'a file exists where you’re trying to create a subdirectory' },
    },
  },
};

export const writer = 'token-that-may-write';
const reader = 'token-that-may-read';

export function fakeCodeHost(dialect: Dialect): CodeHostRepository {
  const rules = dialects[dialect];
  const files = new Map<string, string>();
  let lastMessage = '';
  const shaOf = (content: string) =>
    createHash('sha1')
      .update(`blob ${Buffer.byteLength(content)}\0${content}`)
      .digest('hex');
  const fileView = (path: string, content: string) => ({
    type: 'file',
    path,
    sha: shaOf(content),
    content: Buffer.from(content).toString('base64'),
    html_url: `${rules.pages}/${path.split('/').map(encodeURIComponent).join('/')}`,
  });

  function get(path: string, ref: string | null): HostAnswer {
    if (ref !== 'main') return { status: 404, body: { message: 'No commit found for the ref' } };
    const content = files.get(path);
    if (content !== undefined) return { status: 200, body: fileView(path, content) };
    const below = [...files.keys()].filter((each) => each.startsWith(`${path}/`));
    if (below.length > 0) return { status: 200, body: below.map((each) => ({ type: 'file', path: each })) };
    return { status: 404, body: { message: 'Not Found' } };
  }

  function put(path: string, input: string): HostAnswer {
    const { content, sha, branch, message } = JSON.parse(input);
    if (branch !== 'main') return { status: 404, body: { message: 'Branch not found' } };
    const before = files.get(path);
    if (before !== undefined && sha === undefined) return rules.existsAlready;
    if (before === undefined && sha !== undefined) return rules.goneAlready;
    if (before !== undefined && shaOf(before) !== sha) return rules.staleSha;
    if ([...files.keys()].some((file) => path.startsWith(`${file}/`))) return rules.belowFile;
    files.set(path, Buffer.from(content, 'base64').toString());
    lastMessage = message;
    const commit = { sha: 'c'.repeat(40), html_url: `https://code.test/o/r/commit/${'c'.repeat(40)}` };
    return {
      status: before === undefined ? 201 : 200,
      body: { content: fileView(path, files.get(path) ?? ''), commit },
    };
  }

  function answerOf({ method, url, headers, body }: CodeHostRequest): HostAnswer {
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

  return {
    base: rules.base,
    owner: 'o',
    repo: 'r',
    writer,
    reader,
    answer(request) {
      const { status, body } = answerOf(request);
      return { status, text: JSON.stringify(body) };
    },
    contentUrl: (encodedPath) => `${rules.pages}/${encodedPath}`,
    read: async (path) => files.get(path),
    write: async (path, content) => {
      if (content === undefined) files.delete(path);
      else files.set(path, content);
    },
    lastMessage: async () => lastMessage,
  };
}

export const startFakeCodeHost = (t: ExecutionContext, dialect: Dialect) =>
  startCodeHostServer(t, fakeCodeHost(dialect));
