/** Stands in front of a code host, fake or real. It records the requests, and simulates faults on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface CodeHostRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface CodeHostAnswer {
  readonly status: number;
  readonly text: string;
}

/** One repository of a code host, with the branch `main`. */
export interface CodeHostRepository {
  /** The interface, below the address of the host. */
  readonly base: string;
  readonly owner: string;
  readonly repo: string;
  /** A token that may write into the repository. */
  readonly writer: string;
  /** A token that may only read it. */
  readonly reader: string;
  answer(request: CodeHostRequest): CodeHostAnswer | Promise<CodeHostAnswer>;
  /** The page of a file, by its path in URL form. */
  contentUrl(encodedPath: string): string;
  read(path: string): Promise<string | undefined>;
  /** As another user does it; `undefined` removes the file. */
  write(path: string, content: string | undefined): Promise<void>;
  /** The id of the last commit. */
  lastMessage(): Promise<string>;
}

export async function startCodeHostServer<Repository extends CodeHostRepository>(
  t: ExecutionContext,
  repository: Repository,
) {
  const requests: CodeHostRequest[] = [];
  const state: {
    /** Instead of an answer. */
    answer: ((response: ServerResponse, request: CodeHostRequest) => boolean) | undefined;
    /** Called before each PUT, as if another user had been faster. */
    beforePut: (() => Promise<void>) | undefined;
  } = { answer: undefined, beforePut: undefined };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body };
    requests.push(one);
    if (state.answer?.(response, one)) return;
    if (method === 'PUT') await state.beforePut?.();
    const { status, text } = await repository.answer(one);
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { apiUrl: `http://127.0.0.1:${port}${repository.base}`, repository, requests, state };
}
