import test from 'ava';
import { Registry } from 'prom-client';
import { type Node, NodeState } from '../../proto/generated/scriptorium/v1/cluster.ts';
import { metricValuesOf } from './metric-values.ts';
import { statusPage } from './page.ts';
import type { ClusterStatus } from './status.ts';

const node = (id: string, changes: Partial<Node> = {}): Node => ({
  id,
  incarnation: `run of ${id}`,
  address: '',
  roles: 'all',
  version: '1.0.0',
  state: NodeState.LIVE,
  leaseExpiresInMs: 9_500,
  shards: 4,
  ...changes,
});

const well: ClusterStatus = {
  nowMs: Date.UTC(2026, 0, 1),
  node: 'a',
  version: '1.0.0',
  readiness: { ready: true, checks: { database: 'ok', host: 'ok' } },
  metrics: await metricValuesOf(new Registry()),
  cluster: { nodes: [node('a'), node('b')], freeShards: 0 },
  backlog: {
    pendingTimers: 7,
    pendingTells: 0,
    deadTimerCount: 0,
    deadTellCount: 0,
    deadTimers: [],
    deadTells: [],
  },
  deadMails: [],
};

/** What a reader sees. */
const textOf = (page: string): string =>
  page
    .replace(/<style>.*<\/style>/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

test('a cluster without trouble has nothing in the colour of trouble', (t) => {
  const page = statusPage(well);
  t.notRegex(page, /class="bad"/);
  t.regex(textOf(page), /2 live, 0 draining or expired\..*Shards leaving a node, or without an owner None\./);
  t.regex(textOf(page), /7 timers and 0 tells wait\. 0 timers and 0 tells are dead\./);
});

test('a job that gave up stands beside the command that tries it again', (t) => {
  const actor = { kind: 'user', id: 'u-1' };
  const text = textOf(
    statusPage({
      ...well,
      backlog: {
        ...(well.backlog as NonNullable<ClusterStatus['backlog']>),
        deadTimerCount: 41,
        deadTellCount: 1,
        deadTimers: [{ actor, name: 'reminder', dueMs: 0, attempts: 10 }],
        deadTells: [{ tellId: 't-1', target: actor, sender: actor, name: 'left', attempts: 10 }],
      },
      deadMails: [{ id: 'm-1', attempts: 8, lastFailure: 'refused' }],
    }),
  );
  t.regex(text, /41 timers and 1 tells are dead/);
  t.regex(text, /scriptorium timers --revive user\/u-1\/reminder/);
  t.regex(text, /scriptorium tells --revive t-1/);
  t.regex(text, /m-1 8 refused scriptorium mail retry m-1/);
});

test('shards on the move are told with their reason', (t) => {
  const nodes = [
    node('a'),
    node('b', { state: NodeState.DRAINING, shards: 3 }),
    node('c', { state: NodeState.EXPIRED, shards: 5, leaseExpiresInMs: 0 }),
    node('d', { state: NodeState.GONE, shards: 0 }),
  ];
  const text = textOf(statusPage({ ...well, cluster: { nodes, freeShards: 2 } }));
  t.regex(text, /3 shards leave b, which is draining 5 shards leave c, which is expired/);
  t.regex(text, /2 shards have no owner/);
  t.regex(text, /1 live, 2 draining or expired/);
});

test('with many nodes, those in trouble come first and the others are folded away', (t) => {
  const live = Array.from({ length: 300 }, (_, index) => node(`node-${index}`));
  const nodes = [...live, node('late', { state: NodeState.EXPIRED, shards: 0 })];
  const page = statusPage({ ...well, cluster: { nodes, freeShards: 0 } });
  t.true(page.indexOf('<td>late</td>') < page.indexOf('<details>'));
  t.true(page.indexOf('<td>node-299</td>') > page.indexOf('<details>'));
  t.regex(textOf(page), /The 300 live ones/);
});

test('without a database the page comes all the same, and says what it cannot tell', (t) => {
  const text = textOf(
    statusPage({
      ...well,
      readiness: { ready: false, checks: { database: 'failed' } },
      cluster: undefined,
      backlog: undefined,
      deadMails: undefined,
    }),
  );
  t.regex(text, /Not ready.*database: failed/);
  t.is(text.match(/Cannot be read now/g)?.length, 4);
});

test('names cannot break out of the page', (t) => {
  const id = '<script>alert(1)</script>"\'&';
  const page = statusPage({ ...well, cluster: { nodes: [node(id)], freeShards: 0 } });
  t.false(page.includes('<script'));
  t.true(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;'));
});
