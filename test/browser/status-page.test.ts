/** The page of the admin port as people use it: on a wide and a narrow screen, in the dark, by keyboard. */
import test, { type ExecutionContext } from 'ava';
import type { Browser, Page } from 'playwright-core';
import { Registry } from 'prom-client';
import { createAdmin } from '../../operations/admin.ts';
import { metricValuesOf } from '../../operations/status-page/metric-values.ts';
import { statusPage } from '../../operations/status-page/page.ts';
import { type Node, NodeState } from '../../proto/generated/scriptorium/v1/cluster.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { startConfiguredServer } from '../kit/configured-server.ts';
import { launchChromium } from './chromium.ts';

async function chromium(t: ExecutionContext): Promise<Browser> {
  t.timeout(120_000);
  const browser = await launchChromium(process.env);
  t.teardown(() => browser.close());
  return browser;
}

const nodeNamed = (id: string, state: NodeState): Node => ({
  id,
  incarnation: id,
  address: '',
  roles: 'host',
  version: '1.0.0',
  state,
  leaseExpiresInMs: 9_000,
  shards: 54,
});

/** The page of a cluster with 300 nodes, one of which drains. */
async function pageOfManyNodes(t: ExecutionContext): Promise<string> {
  const registry = new Registry();
  const readiness = createReadiness({ database: () => true }, systemClock);
  const live = Array.from({ length: 299 }, (_, index) => nodeNamed(`host-${index}`, NodeState.LIVE));
  const html = statusPage({
    nowMs: Date.UTC(2026, 0, 1),
    node: 'gateway-0',
    version: '1.0.0',
    readiness: await readiness.report(),
    metrics: await metricValuesOf(registry),
    cluster: { nodes: [...live, nodeNamed('leaving', NodeState.DRAINING)], freeShards: 0 },
    backlog: undefined,
    deadMails: [],
  });
  const admin = createAdmin({ registry, readiness, names: [], statusPage: async () => html });
  const port = await admin.listen('127.0.0.1', 0);
  t.teardown(() => admin.close());
  return `http://127.0.0.1:${port}/`;
}

/** From 0, black, to 1, white, over a whole screenshot; read in another page, as this one may run no script. */
async function brightness(browser: Browser, page: Page): Promise<number> {
  const picture = (await page.screenshot()).toString('base64');
  const reader = await browser.newPage();
  const mean = await reader.evaluate<number>(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${picture}';
    await image.decode();
    const context = new OffscreenCanvas(1, 1).getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, 1, 1);
    const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
    return (red + green + blue) / (3 * 255);
  })()`);
  await reader.close();
  return mean;
}

test('a started server shows its page at the admin port, and its policy refuses nothing of it', async (t) => {
  const server = await startConfiguredServer(t);
  const page = await (await chromium(t)).newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  // Without letting time pass: a check of readiness that reads from the disk would run out of its 2 s.
  await page.goto(`${server.adminUrl}/`);
  t.is(await page.title(), 'Scriptorium main');
  t.regex(
    (await page.locator('main').textContent()) ?? '',
    /Ready[\s\S]*1 live, 0 draining or expired[\s\S]*None is dead/,
  );
  t.is(await page.evaluate(`getComputedStyle(document.querySelector('th')).textAlign`), 'left');
  t.deepEqual(complaints, []);
});

test('300 nodes can be read on a narrow screen, and in the dark', async (t) => {
  const browser = await chromium(t);
  const page = await browser.newPage({ viewport: { width: 360, height: 780 } });
  await page.goto(await pageOfManyNodes(t));
  t.true(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'));
  t.regex((await page.locator('main').textContent()) ?? '', /54 shards leave leaving, which is draining/);
  await page.emulateMedia({ colorScheme: 'light' });
  t.true((await brightness(browser, page)) > 0.8);
  await page.emulateMedia({ colorScheme: 'dark' });
  t.true((await brightness(browser, page)) < 0.3);
});

test('everything can be reached and unfolded by keyboard', async (t) => {
  const page = await (await chromium(t)).newPage();
  await page.goto(await pageOfManyNodes(t));
  t.false(await page.getByText('host-298').isVisible());
  for (let presses = 0; presses < 10; presses++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate("document.activeElement.localName === 'summary'")) break;
  }
  await page.keyboard.press('Enter');
  t.true(await page.getByText('host-298').isVisible());
});
