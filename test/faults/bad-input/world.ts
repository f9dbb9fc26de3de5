/**
 * A running server, a user who sends it everything that is wrong, and one who only ever sends valid requests.
 *
 * The first is the *sender*: every request here without a session or with one of theirs is bad input. The other is
 * the *canary*: their items, address and secrets are recognisable. So the test searches every byte that any other
 * client receives for them. After each batch of bad input, the canary's sync must still return exactly the planted
 * items. Everything private that anybody sends carries `marker`, which the server's output must never contain.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { type RunningServer, startServer } from '../../kit/started-server.ts';
import {
  type Answer,
  type ExchangeOptions,
  type ExchangeResult,
  exchange,
  type RawRequest,
  requestBytes,
} from './raw-http.ts';

/** In every address, password, ciphertext, path and header value of these tests. */
export const marker = 'pq7zmark';

/** The time for a request while the machine is busy with other tests: beyond it, it hangs. */
const answerLimitMs = 25_000;

/** No limit on volume, and a log line for every request. */
export const withoutLimits = { RATE_LIMIT_PUBLIC: '0', RATE_LIMIT_SESSION: '0', LOG_LEVEL: 'debug' };

export interface Account {
  readonly email: string;
  readonly password: string;
  readonly userUuid: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** The values of `Cookie` that belong to the tokens. */
  readonly cookies: readonly string[];
}

export type Headers = readonly (readonly [name: string, value: string])[];

export interface Item {
  readonly uuid: string;
  readonly content: string;
  readonly [field: string]: unknown;
}

export interface Sync {
  readonly retrieved_items: readonly Item[];
  readonly saved_items: readonly Item[];
  readonly conflicts: readonly { readonly type: string; readonly server_item?: Item }[];
  readonly sync_token: string;
  readonly cursor_token?: string;
}

export const bearer = ({ accessToken }: Account): Headers => [['Authorization', `Bearer ${accessToken}`]];
export const jsonType: Headers = [['Content-Type', 'application/json']];

/** Header-style sessions; 20240226 makes cookie-style ones. */
const headerSessions = '20200115';

export class World {
  readonly #server: RunningServer;
  readonly port: number;
  readonly #output: OutputWatch;
  /** Text that only the canary may ever receive. */
  #forbidden: readonly string[] = [];
  #canary: Account | undefined;
  #planted: readonly Item[] = [];
  #sender: Account | undefined;

  static async open(settings: Record<string, string> = withoutLimits): Promise<World> {
    const output = new OutputWatch();
    const world = new World(await startServer(settings, (line) => output.read(line)), output);
    try {
      await world.#populate();
      return world;
    } catch (error) {
      await world.#server.stop();
      throw error;
    }
  }

  private constructor(server: RunningServer, output: OutputWatch) {
    this.#server = server;
    this.#output = output;
    this.port = Number(new URL(server.url).port);
  }

  get sender(): Account {
    return present(this.#sender);
  }

  get canary(): Account {
    return present(this.#canary);
  }

  get planted(): readonly Item[] {
    return this.#planted;
  }

  /** Stops the server. @throws Error if its output contained private data or a failure of its own */
  async close(): Promise<void> {
    await this.#server.stop();
    this.#output.check();
  }

  /** Bytes that may be no HTTP at all; the test searches the answer for the canary's data. */
  async raw(pieces: readonly Buffer[], options: Partial<ExchangeOptions> = {}): Promise<ExchangeResult> {
    const outcome = await exchange(pieces, { port: this.port, limitMs: answerLimitMs, ...options });
    for (const text of this.#forbidden) {
      if (outcome.bytes.includes(text)) throw new Error(`received what belongs to another user: ${text}`);
    }
    return outcome;
  }

  /** A complete and valid HTTP request. @throws Error unless its answer is well-formed */
  async ask(request: RawRequest): Promise<Answer> {
    const isHead = request.method === 'HEAD';
    const outcome = await this.raw([requestBytes(request)], { isHead });
    const [answer] = outcome.answers;
    if (answer === undefined) throw new Error(`${outcome.end} without an answer to ${described(request)}`);
    const isKnown = isRefusedPublishing(request, answer) || isPage(request, answer);
    if (!isKnown) checkAnswer(answer, isHead, described(request));
    return answer;
  }

  /** A JSON body of the sender's, or of another user's. */
  post(path: string, body: unknown, headers: Headers = bearer(this.sender)): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.ask({ method: 'POST', target: path, headers: [...jsonType, ...headers], body: text });
  }

  /** Opens a separate account for a user who sends bad input. */
  async register(api = headerSessions): Promise<Account> {
    const who = { email: `${marker}-${randomUUID()}@bad.test`, password: `${marker}${randomUUID()}` };
    const body = { api, ...who, pw_nonce: marker.repeat(8), version: '004' };
    const bytes = requestBytes({ method: 'POST', target: '/v1/users', body: JSON.stringify(body) });
    const { answers } = await exchange([bytes], { port: this.port, limitMs: answerLimitMs });
    const [answer] = answers;
    if (answer?.status !== 200) throw new Error(`registration: ${answer?.status} ${answer?.body}`);
    const { user, session } = dataOf(answer) as {
      user: { uuid: string };
      session: { access_token: string; refresh_token: string };
    };
    const cookies = [...answer.head.matchAll(/^Set-Cookie: ([^;]*)/gim)].map(([, pair = '']) => pair);
    const account = {
      ...who,
      cookies,
      userUuid: user.uuid,
      accessToken: session.access_token,
      refreshToken: session.refresh_token,
    };
    this.#output.forbid(secretsOf(account));
    return account;
  }

  /** Every page of a user's first sync. */
  async everythingOf(account: Account): Promise<Item[]> {
    const items: Item[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.syncOf(account, cursor);
      items.push(...page.retrieved_items);
      cursor = page.cursor_token;
    } while (cursor !== undefined);
    return items;
  }

  /** One page for its owner, who may see their own data. */
  async syncOf(account: Account, cursor?: string): Promise<Sync> {
    const body = JSON.stringify({ api: headerSessions, cursor_token: cursor });
    const headers = [...jsonType, ...bearer(account)];
    const bytes = requestBytes({ method: 'POST', target: '/v1/items', headers, body });
    const { answers } = await exchange([bytes], { port: this.port, limitMs: answerLimitMs });
    const [answer] = answers;
    if (answer?.status !== 200) throw new Error(`a first sync: ${answer?.status} ${answer?.body}`);
    return dataOf(answer) as Sync;
  }

  /** After a batch of bad input: the server answers, and the canary has exactly their own data. */
  async rest(): Promise<void> {
    const health = await this.ask({ method: 'GET', target: '/healthcheck' });
    if (health.status !== 200) throw new Error(`/healthcheck answers ${health.status}`);
    const has = (await this.everythingOf(this.canary)).map(identity).sort();
    const should = this.#planted.map(identity).sort();
    if (has.join() !== should.join()) throw new Error(`the canary has ${has}, and should have ${should}`);
    this.#output.check();
    if (this.#server.failures.length > 0) throw new Error(this.#server.failures.join('\n'));
  }

  async #populate(): Promise<void> {
    this.#sender = await this.register();
    this.#canary = await this.register();
    const items = [1, 2, 3].map((n) => newItem({ content: `canary${n}-${randomBytes(12).toString('hex')}` }));
    const answer = await this.post('/v1/items', { api: headerSessions, items }, bearer(this.#canary));
    if ((dataOf(answer) as Sync).saved_items.length !== items.length) throw new Error('nothing was planted');
    this.#planted = items;
    this.#forbidden = [...secretsOf(this.#canary), ...items.map(({ content }) => content)];
    this.#output.forbid(this.#forbidden);
  }
}

/** The output of the server, line by line, and the texts that it must not contain. */
class OutputWatch {
  readonly #forbidden = new Set<string>([marker]);
  readonly #leaks: string[] = [];
  #lines = 0;

  forbid(texts: readonly string[]): void {
    for (const text of texts) this.#forbidden.add(text);
  }

  read(line: string): void {
    this.#lines += 1;
    for (const text of this.#forbidden) if (line.includes(text)) this.#leaks.push(line);
  }

  check(): void {
    if (this.#lines === 0) throw new Error('the output of the server was not read');
    if (this.#leaks.length > 0) throw new Error(`the output of the server tells: ${this.#leaks.join('\n')}`);
  }
}

/** An item in the form of new ones. */
export function newItem(fields: Record<string, unknown> = {}): Item {
  return {
    uuid: randomUUID(),
    content_type: 'Note',
    content: `004:${marker}`,
    enc_item_key: `004:${marker}`,
    items_key_id: randomUUID(),
    deleted: false,
    created_at: '2026-01-01T00:00:00.000Z',
    created_at_timestamp: 0,
    updated_at: '1970-01-01T00:00:00.000Z',
    updated_at_timestamp: 0,
    ...fields,
  };
}

/** The inner body of an answer. */
export function dataOf(answer: Answer): unknown {
  const body = JSON.parse(answer.body.toString()) as { data?: unknown };
  return body.data ?? body;
}

/** The error tag of an answer. */
export function tagOf(answer: Answer): string | undefined {
  return (dataOf(answer) as { error?: { tag?: string } }).error?.tag;
}

const isJson = (answer: Answer) => /^application\/json\b/.test(answer.headers.get('content-type') ?? '');

/** Publishing asks a missing code host, a limited number of times a minute for each account. */
const isRefusedPublishing = ({ target }: RawRequest, { status }: Answer) =>
  target.startsWith('/v1/integrations/') && (status === 502 || status === 429);

/** Browsers open these paths, so even a refusal is a page. It repeats nothing of the request. */
const isPage = ({ target }: RawRequest, { status, headers, body }: Answer) =>
  (target.startsWith('/v1/assistant/subscription/callback?') || target.startsWith('/v1/mail/unsubscribe/')) &&
  status < 500 &&
  headers.get('content-type')?.startsWith('text/html') === true &&
  !body.includes(marker);

/** Never a failure of the server, and every refusal gives a reason in JSON. */
function checkAnswer(answer: Answer, isHead: boolean, what: string): void {
  const { status, body } = answer;
  const said = `${status} ${body.toString('utf8', 0, 300)} to ${what}`;
  if (status >= 500 || status === 429) throw new Error(said);
  if (status < 400 || isHead) return;
  if (!isJson(answer)) throw new Error(`no JSON: ${said}`);
  const { error } = dataOf(answer) as { error?: { message?: unknown } };
  if (typeof error?.message !== 'string' || error.message === '') throw new Error(`no message: ${said}`);
}

/** The parts of tokens and cookies that give access, and the address. */
function secretsOf({ email, password, accessToken, refreshToken, cookies }: Account): string[] {
  const ofCookies = cookies.map((pair) => pair.slice(pair.indexOf('=') + 1));
  const ofTokens = [accessToken, refreshToken].map((token) => token.slice(token.lastIndexOf('.') + 1));
  return [email, password, ...ofTokens, ...ofCookies];
}

const identity = ({ uuid, content }: Item) => `${uuid} ${content}`;

const described = ({ method, target, headers = [], body }: RawRequest) =>
  `${method} ${JSON.stringify(target.slice(0, 300))} ${headers.map(([name]) => name)} ${JSON.stringify(
    body?.toString().slice(0, 2_000),
  )} (${body?.length} bytes)`;

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the world is not open');
  return value;
}
