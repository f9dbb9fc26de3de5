import type { Browser, BrowserContext, Page, Response, WebSocket } from 'playwright-core';
import { plugInSecurityKey } from './chromium.ts';
import type { Client } from './page/client.ts';
import type { Files } from './page/files.ts';
import type { Lane } from './page/lane.ts';
import type { Vaults } from './page/vaults.ts';

/** A part of the device in the page, from the test's side: the same methods, each answered by a promise. */
export type Remote<T> = {
  [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (
    ...args: infer A
  ) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export interface DeviceOptions {
  browser: Browser;
  /** The origin of the page. */
  pageUrl: string;
  /** The server's address for the client. */
  serverUrl: string;
  /** Decides the session style: `20240226` cookies, `20200115` headers. */
  apiVersion: string;
  name: string;
}

/** Longer than any call takes on a busy machine, the derivation of a key included. */
const deadlineMs = 30_000;

/** One device of a user: its own browser context, with its own cookies and its own client. */
export class Device {
  readonly client: Remote<Client>;
  readonly files: Remote<Files>;
  readonly vaults: Remote<Vaults>;
  readonly lane: Remote<Lane>;
  /** `POST /v1/items 200` for each answer of the server, in order of arrival. */
  readonly answers: string[];
  readonly #sockets: WebSocket[] = [];
  /** What the client has registered or signed in with last: it is derived from the password. */
  serverPassword = '';
  /** Texts that came through the client's sockets. */
  readonly frames: string[] = [];
  readonly #options: DeviceOptions;
  #context: BrowserContext;
  #page: Page;

  private constructor(context: BrowserContext, page: Page, options: DeviceOptions) {
    this.#options = options;
    this.#context = context;
    this.#page = page;
    this.answers = recordAnswers(page, options.serverUrl);
    page.on('request', (request) => {
      const isSignIn = request.method() === 'POST' && /\/(?:v1\/users|v[12]\/login)$/.test(request.url());
      if (isSignIn) this.serverPassword = request.postDataJSON()?.password ?? this.serverPassword;
    });
    page.on('websocket', (socket) => {
      this.#sockets.push(socket);
      socket.on('framereceived', ({ payload }) => this.frames.push(String(payload)));
    });
    this.client = remote(page, 'client');
    this.files = remote(page, 'files');
    this.vaults = remote(page, 'vaults');
    this.lane = remote(page, 'lane');
  }

  static async open(options: DeviceOptions): Promise<Device> {
    const context = await options.browser.newContext();
    const page = await context.newPage();
    const device = new Device(context, page, options);
    await device.reinstall();
    return device;
  }

  /** Signs the client out; it knows nothing afterwards. Plugged-in keys stay. */
  async reinstall(): Promise<void> {
    const { pageUrl, serverUrl, apiVersion, name } = this.#options;
    await this.#page.goto(`${pageUrl}/page`);
    await this.client.boot({ host: serverUrl, apiVersion, identifier: `device-${name}` });
  }

  async plugInSecurityKey(): Promise<void> {
    await plugInSecurityKey(this.#page);
  }

  /** Resolves when the server next refuses an item that is based on an outdated version. */
  async outdatedItemRefused(): Promise<void> {
    await this.#page.waitForResponse(
      async (response) => response.url().endsWith('/v1/items') && (await hasSyncConflict(response)),
      { timeout: deadlineMs },
    );
  }

  /** Whether the client has dialled and every socket of it is open. */
  get hasOpenSocket(): boolean {
    return this.#sockets.length > 0 && this.#sockets.every((socket) => !socket.isClosed());
  }

  async goOffline(): Promise<void> {
    await this.#context.setOffline(true);
  }

  async goOnline(): Promise<void> {
    await this.#context.setOffline(false);
  }

  cookieNames(): Promise<string[]> {
    return this.#context.cookies().then((cookies) => cookies.map((cookie) => cookie.name));
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}

function recordAnswers(page: Page, serverUrl: string): string[] {
  const answers: string[] = [];
  page.on('response', (response) => {
    const { origin, pathname } = new URL(response.url());
    if (origin !== serverUrl || pathname.startsWith('/page')) return;
    answers.push(`${response.request().method()} ${pathname} ${response.status()}`);
  });
  return answers;
}

async function hasSyncConflict(response: Response): Promise<boolean> {
  if (response.request().method() !== 'POST') return false;
  const { data } = (await response.json()) as { data?: { conflicts?: { type: string }[] } };
  return data?.conflicts?.some((conflict) => conflict.type === 'sync_conflict') ?? false;
}

/** @param part its name in the page */
function remote<T>(page: Page, part: string): Remote<T> {
  const call = (method: string, args: unknown[]): Promise<unknown> =>
    page.evaluate(
      ([from, name, values]) => {
        const parts = globalThis as unknown as Record<
          string,
          Record<string, (...args: unknown[]) => unknown>
        >;
        const run = parts[from]?.[name];
        if (run === undefined) throw new Error(`The page has no ${from}.${name}.`);
        return run.apply(parts[from], values);
      },
      [part, method, args] as const,
    );
  return new Proxy({} as object, {
    get:
      (_target, method) =>
      (...args: unknown[]) =>
        within(deadlineMs, String(method), call(String(method), args)),
  }) as Remote<T>;
}

async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs} ms.`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
