/** Calls a server of this kind, or the existing server, over HTTP as apps do. */

export interface ServerAddress {
  /** The URL of the server; a path in it is kept. */
  readonly url: URL;
  readonly accessKey: string | undefined;
  readonly deadlineMs: number;
}

export interface ClientRequest {
  readonly bearer?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server was unreachable, or broke off. */
export class UnreachableError extends Error {}

export class RefusedError extends Error {
  readonly status: number;
  /** The word by which clients tell refusals apart; may be empty. */
  readonly tag: string;
  /** The server's own sentence for people. */
  readonly reason: string;

  constructor(request: string, status: number, { tag = '', message = 'nothing that a client understands' }) {
    super(`${request} was answered ${status}: ${message}`);
    this.status = status;
    this.tag = tag;
    this.reason = /[.!?]$/.test(message) ? message : `${message}.`;
  }
}

/** No page of items is this long. Without a bound, a hostile server could fill the memory. */
const longestAnswerBytes = 128 * 1_048_576;

export class HttpClient {
  readonly #options: ServerAddress;
  readonly #answerBytesMax: number;

  constructor(options: ServerAddress, answerBytesMax = longestAnswerBytes) {
    this.#options = options;
    this.#answerBytesMax = answerBytesMax;
  }

  /** @throws RefusedError or UnreachableError */
  // biome-ignore lint/suspicious/noExplicitAny: answers are untyped, as for any client
  async ask(method: string, path: string, { bearer, body, headers }: ClientRequest = {}): Promise<any> {
    const { status, text } = await this.#answerTo(method, path, {
      headers: { ...this.headers(bearer), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (text === undefined) {
      const message = `more than ${this.#answerBytesMax} bytes, which is too long`;
      throw new RefusedError(`${method} ${path}`, status, { message });
    }
    const answer = parsed(text);
    if (status >= 200 && status < 300 && answer !== undefined) return answer.data ?? answer;
    const { tag, message } = answer?.error ?? answer?.data?.error ?? {};
    throw new RefusedError(`${method} ${path}`, status, { tag, message });
  }

  urlOf(path: string): URL {
    const { url } = this.#options;
    return new URL(url.pathname.replace(/\/$/, '') + path, url);
  }

  headers(bearer: string | undefined): Readonly<Record<string, string>> {
    const { accessKey } = this.#options;
    return {
      'content-type': 'application/json',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(accessKey !== undefined && { 'x-shared-server-key': accessKey }),
    };
  }

  /** The answer has no text if its body is larger than `#answerBytesMax`. */
  async #answerTo(
    method: string,
    path: string,
    init: RequestInit,
  ): Promise<{ status: number; text: string | undefined }> {
    const signal = AbortSignal.timeout(this.#options.deadlineMs);
    const url = this.urlOf(path);
    try {
      const answer = await fetch(url, { method, redirect: 'manual', signal, ...init });
      return { status: answer.status, text: await textOf(answer, this.#answerBytesMax) };
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
      throw new UnreachableError(`${url.origin} cannot be reached: ${why}`, { cause: error });
    }
  }
}

/** Undefined if the body has more than `bytesMax` bytes. The rest is not read. */
async function textOf({ body }: Response, bytesMax: number): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > bytesMax) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function parsed(text: string): any {
  try {
    return text === '' ? {} : (JSON.parse(text) ?? undefined);
  } catch {
    return undefined;
  }
}
