/**
 * The viewer's page in a browser. The shared note is the worst that a note can contain. The test records every
 * request of every page and every line that the server logs.
 */
import { randomBytes } from 'node:crypto';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import type { Browser, Page, Request } from 'playwright-core';
import { Device } from '../kit/device.ts';
import { type RunningServer, startServer } from '../kit/started-server.ts';
import { launchChromium } from './chromium.ts';

const hostile = [
  '<script>alert(1);fetch("/stolen?script")</script><img src="/stolen" onerror="alert(2)">',
  '"><svg onload=alert(3)><iframe src="javascript:alert(4)"></iframe>',
  '<a href="javascript:alert(5)">x</a><form action="/stolen"><style>*{background:url(/stolen)}</style>',
  '</div></main></script><base href="https://example.org/">&amp;&lt;b&gt; {{alert(6)}}',
].join('\n');
const note = { kind: 'note', title: `Title <b>${hostile}`, text: hostile };

interface Shared {
  readonly link: string;
  readonly path: string;
  readonly key: string;
}

interface Scene {
  readonly browser: Browser;
  readonly server: RunningServer;
  readonly log: readonly string[];
  share(plain: unknown, more?: object): Promise<Shared>;
}

async function sceneOf(t: ExecutionContext): Promise<Scene> {
  t.timeout(180_000);
  const log: string[] = [];
  const browser = await launchChromium(process.env);
  t.teardown(() => browser.close());
  const server = await startServer({ LOG_LEVEL: 'debug' }, (line) => log.push(line));
  t.teardown(() => server.stop());
  const alice = await Device.register(server);
  return { browser, server, log, share: (plain, more = {}) => share(alice, plain, more) };
}

async function share(alice: Device, plain: unknown, more: object): Promise<Shared> {
  const [key, nonce] = [randomBytes(32), randomBytes(24)];
  const bytes = xchacha20poly1305(key, nonce).encrypt(Buffer.from(JSON.stringify(plain)));
  const ciphertext = Buffer.from(bytes).toString('base64');
  const encryptedPayload = JSON.stringify({ v: 1, nonce: nonce.toString('hex'), ciphertext });
  const answer = await alice.call('POST', '/v1/shares', {
    body: { type: 'note', encryptedPayload, ...more },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  const { shareId } = answer.body;
  const keyHex = key.toString('hex');
  const link = `${alice.server.url}/?shared=${shareId}#${keyHex}`;
  return { link, path: `/v1/shares/${shareId}`, key: keyHex };
}

interface Visit {
  readonly page: Page;
  readonly requests: readonly Request[];
  /** Things that a page of this server must never do. */
  readonly incidents: readonly string[];
}

async function visit({ browser }: Scene, link: string, style = {}): Promise<Visit> {
  const page = await browser.newPage(style);
  const requests: Request[] = [];
  const incidents: string[] = [];
  page.on('request', (request) => requests.push(request));
  page.on('dialog', (dialog) => {
    incidents.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => incidents.push(error.message));
  page.on('console', (line) => line.type() === 'error' && incidents.push(line.text()));
  await page.goto(link);
  return { page, requests, incidents };
}

const pathsOf = (requests: readonly Request[]) =>
  requests.map((request) => `${request.method()} ${new URL(request.url()).pathname}`);

async function open({ page }: Visit): Promise<void> {
  await page.getByRole('button').click();
  await page.locator('article, #message:visible:not(:text("Opening"))').first().waitFor();
}

const messageOf = async ({ page }: Pick<Visit, 'page'>) =>
  (await page.locator('#message').textContent()) ?? '';

test.serial('a note and a tag are shown as text, and their keys reach nobody', async (t) => {
  const scene = await sceneOf(t);
  const tag = { kind: 'tag', title: hostile, notes: [note, { title: '', text: 'second' }] };
  const shares = [await scene.share(note), await scene.share(tag, { type: 'tag' })];
  for (const [index, shared] of shares.entries()) {
    const visited = await visit(scene, shared.link);
    const { page, requests, incidents } = visited;
    t.is(page.url(), shared.link.replace(/#.*/, ''));
    t.is(await page.evaluate('location.hash + history.length'), '2');
    await open(visited);
    const texts = await page.locator('article > div').allTextContents();
    t.deepEqual(texts, index === 0 ? [hostile] : [hostile, 'second']);
    const titles = await page.locator('h1').allTextContents();
    t.deepEqual(titles, [index === 0 ? note.title : hostile]);
    t.is(await page.locator('img, svg, iframe, a, form, b, base, script:not(main ~ script)').count(), 0);
    t.is(await page.title(), 'Something shared with you');
    t.is(await page.evaluate('document.activeElement.id'), 'content');
    await page.waitForLoadState('networkidle');
    t.deepEqual(pathsOf(requests), ['GET /', `GET ${shared.path}`]);
    t.deepEqual(incidents, []);
    for (const request of requests) {
      const heard = JSON.stringify([
        request.url().replace(/#.*/, ''),
        await request.allHeaders(),
        request.postData(),
      ]);
      t.false(heard.includes(shared.key));
    }
    await page.close();
  }
  const logged = scene.log.join('\n');
  t.true(logged.includes('"route":"/v1/shares/:shareId"') && logged.includes('"route":"/"'));
  for (const { key, path } of shares) {
    t.false(logged.includes(key));
    t.false(logged.includes(path));
  }
  t.deepEqual(scene.server.failures, []);
});

test.serial(
  'a note of the rich editor is shown with headings, tasks and links, and no markup of its own',
  async (t) => {
    const scene = await sceneOf(t);
    const words = (text: string, format = 0) => ({ type: 'text', text, format });
    const link = (url: string) => ({ type: 'link', url, children: [words(hostile)] });
    const children = [
      { type: 'heading', tag: 'h1', children: [words('Plan')] },
      {
        type: 'paragraph',
        children: [words(hostile, 1), link('https://example.org/'), link('javascript:alert(7)')],
      },
      {
        type: 'list',
        listType: 'check',
        children: [
          { type: 'listitem', checked: true, children: [words('done')] },
          { type: 'listitem', checked: false, children: [words('open')] },
        ],
      },
    ];
    const rich = { ...note, text: JSON.stringify({ root: { type: 'root', children } }) };
    const visited = await visit(scene, (await scene.share(rich)).link);
    const { page, incidents } = visited;
    await open(visited);
    t.is(await page.locator('article h3').textContent(), 'Plan');
    t.is(await page.locator('article p strong').textContent(), hostile);
    t.deepEqual(await page.locator('article li').allTextContents(), ['done', 'open']);
    const boxes = page.locator('article input');
    t.deepEqual(
      [await boxes.count(), await boxes.first().isChecked(), await boxes.last().isChecked()],
      [2, true, false],
    );
    t.is(await page.locator('article a').getAttribute('href'), 'https://example.org/');
    t.is(await page.locator('img, svg, iframe, form, b, base, script:not(main ~ script)').count(), 0);
    t.deepEqual(incidents, []);
  },
);

test.serial(
  'a one-time share is opened by the click and by nothing before it, and then it is gone',
  async (t) => {
    const scene = await sceneOf(t);
    const shared = await scene.share(note, { oneTimeView: true });
    const first = await visit(scene, shared.link);
    t.regex(await messageOf(first), /only once/);
    t.is((await fetch(shared.link, { method: 'HEAD' })).status, 200);
    t.is((await fetch(scene.server.url + shared.path, { method: 'HEAD' })).status, 405);
    await first.page.waitForLoadState('networkidle');
    t.deepEqual(pathsOf(first.requests), ['GET /']);
    const second = await visit(scene, shared.link);
    await second.page.keyboard.press('Tab');
    await second.page.keyboard.press('Enter');
    await second.page.locator('article').waitFor();
    t.is(await second.page.locator('article > div').textContent(), hostile);
    await open(first);
    t.regex(await messageOf(first), /nothing here any more/);
    t.is(await first.page.locator('button').isVisible(), false);
    t.is(await first.page.locator('article').count(), 0);
  },
);

test.serial('a wrong key does not use up a one-time share for a reader with the right one', async (t) => {
  const scene = await sceneOf(t);
  const { link, key } = await scene.share(note, { oneTimeView: true });
  const visited = await visit(scene, link.replace(key, '0'.repeat(64)));
  await open(visited);
  t.regex(await messageOf(visited), /key in this link does not fit/);
  await visited.page.evaluate(`location.hash = '${key}'`);
  await visited.page.locator('article').waitFor();
  t.is(await visited.page.evaluate('location.hash'), '');
  t.is(await visited.page.locator('article > div').textContent(), hostile);
  t.deepEqual(visited.incidents, []);
});

test.serial('a link that is not whole opens nothing, and what cannot be shown is not lost', async (t) => {
  const scene = await sceneOf(t);
  const { link, key, path } = await scene.share(note, { oneTimeView: true });
  for (const broken of [
    link.replace(`#${key}`, ''),
    link.slice(0, -1),
    link.replace('shared=', 'shared=x'),
  ]) {
    const { page, requests } = await visit(scene, broken);
    t.regex(await messageOf({ page }), /incomplete/, broken);
    t.is(await page.locator('button').isVisible(), false);
    t.deepEqual(pathsOf(requests), ['GET /']);
  }
  t.is((await fetch(scene.server.url + path)).status, 200);
  const account = { kind: 'account', name: hostile };
  const visited = await visit(scene, (await scene.share(account, { type: 'account' })).link);
  await open(visited);
  t.regex(await messageOf(visited), /raw text/);
  t.is(await visited.page.locator('#content > div').textContent(), JSON.stringify(account));
  t.deepEqual(visited.incidents, []);
});

test.serial('without a connection the page says so, and opens the share once there is one', async (t) => {
  const scene = await sceneOf(t);
  const visited = await visit(scene, (await scene.share(note)).link, {
    colorScheme: 'dark',
    viewport: { width: 360, height: 640 },
  });
  await visited.page.context().setOffline(true);
  await open(visited);
  t.regex(await messageOf(visited), /No answer came/);
  await visited.page.context().setOffline(false);
  await visited.page.getByRole('button', { name: 'Try again' }).click();
  await visited.page.locator('article').waitFor();
  const width = await visited.page.evaluate('document.documentElement.scrollWidth');
  t.is(width, 360);
});

/** Browsers read JSON that is nested this deep, but the page never shows it as more than its text. */
const deep = (depth: number): unknown => (depth === 0 ? '' : [deep(depth - 1)]);
const stored = `Promise.all([indexedDB.databases(), caches.keys(), navigator.serviceWorker.getRegistrations()])
  .then((lists) => [...lists.map((list) => list.length), localStorage.length, sessionStorage.length, document.cookie])`;

test.serial(
  'a shared note is shown as text: giant, deep, reversed or a link, and nothing of it is kept or fetched',
  async (t) => {
    const scene = await sceneOf(t);
    const reversed = '\u202Egnp.exe\u2066\u2067<b>';
    const fields: Readonly<Record<string, readonly [plain: object, text: string]>> = {
      giant: [{ kind: 'note', title: '', text: 'x'.repeat(600_000) }, 'x'.repeat(600_000)],
      reversed: [{ kind: 'note', title: reversed, text: reversed }, reversed],
      links: [
        { kind: 'note', title: '', text: 'javascript:alert(7) data:text/html,<script>alert(8)</script>' },
        'javascript:alert(7) data:text/html,<script>alert(8)</script>',
      ],
      'keys of every object': [
        JSON.parse('{"kind":"note","title":"t","text":"x","__proto__":{"text":"stolen"},"constructor":{}}'),
        'x',
      ],
    };
    for (const [title, [plain, text]] of Object.entries(fields)) {
      const shared = await scene.share(plain);
      const visited = await visit(scene, shared.link);
      await open(visited);
      t.true((await visited.page.locator('article > div').textContent()) === text, title);
      t.is(await visited.page.locator('#content :is(a, b, script, iframe, img)').count(), 0, title);
      t.deepEqual(await visited.page.evaluate(stored), [0, 0, 0, 0, 0, ''], title);
      t.deepEqual(pathsOf(visited.requests), ['GET /', `GET ${shared.path}`], title);
      t.deepEqual(visited.incidents, [], title);
      await visited.page.close();
    }
    const visited = await visit(scene, (await scene.share({ kind: 'account', deep: deep(2_000) })).link);
    await open(visited);
    t.regex(await messageOf(visited), /raw text/);
    t.deepEqual(visited.incidents, []);
  },
);

test.serial('the page could not run, load or send anything even if markup came into it', async (t) => {
  const scene = await sceneOf(t);
  const visited = await visit(scene, (await scene.share(note)).link);
  await open(visited);
  const before = visited.requests.length;
  const tried = await visited.page.evaluate(`(async () => {
    const failed = (work) => Promise.resolve().then(work).then(() => 'done', () => 'refused');
    const loads = (name, fields) => new Promise((resolve) => {
      const element = Object.assign(document.createElement(name), fields);
      element.onload = () => resolve('done');
      element.onerror = () => resolve('refused');
      document.body.append(element);
    });
    const inline = document.createElement('script');
    return {
      markup: await failed(() => { document.body.innerHTML = '<img>'; }),
      inline: await failed(() => { inline.text = 'window.ran = true'; document.body.append(inline); }),
      image: await loads('img', { src: '/stolen' }),
      style: await loads('link', { rel: 'stylesheet', href: '/stolen' }),
      elsewhere: await failed(() => fetch('https://example.org/stolen')),
      ran: 'ran' in window,
    };
  })()`);
  t.deepEqual(tried, {
    markup: 'refused',
    inline: 'refused',
    image: 'refused',
    style: 'refused',
    elsewhere: 'refused',
    ran: false,
  });
  // Chromium reports requests that the policy blocked, and never sends them.
  const sent = await Promise.all(visited.requests.slice(before).map((request) => request.response()));
  t.deepEqual(
    sent.filter((response) => response !== null),
    [],
  );
});
