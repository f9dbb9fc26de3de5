/**
 * The page of the admin port for people: the state of the cluster, and the command to type where something is wrong. It only reads,
 * runs no script and loads nothing, so that it works in any browser and through any tunnel.
 */
import { type Node, NodeState } from '../../proto/generated/scriptorium/v1/cluster.ts';
import type { Address } from '../../runtime/address.ts';
import { type Html, html } from './html.ts';
import { type ClusterStatus, readStatus, type StatusOptions } from './status.ts';
import { style } from './style.ts';

/** With more nodes than this, the live ones are folded away. */
const nodesMax = 30;
/** Seconds from one reload to the next: long enough to read the page. A reload folds everything away again. */
const refreshS = 30;

export function statusPage(status: ClusterStatus): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="${refreshS}">
<title>${status.readiness.ready ? '' : '⚠ '}Scriptorium ${status.node}</title>
<style>${style}</style>
</head>
<body>
<header><h1>Scriptorium</h1><p>${status.node}, release ${status.version}, at
<time>${new Date(status.nowMs).toISOString()}</time>; reloads every ${refreshS} s</p></header>
<main>
${readinessOf(status)}
${processOf(status)}
${nodesSection(status)}
${movesOf(status)}
${deadDeliveriesOf(status)}
${deadMailsOf(status)}
</main>
</body>
</html>
`;
  return page.text;
}

function section(title: string, ...content: readonly Html[]): Html {
  return html`<section><h2>${title}</h2>${content}</section>`;
}

const unknown = html`<p class="bad">Cannot be read now: see the checks above and the log.</p>`;

function table(head: readonly string[], rows: readonly (readonly (Html | string | number)[])[]): Html {
  const cells = (row: readonly (Html | string | number)[]) => row.map((cell) => html`<td>${cell}</td>`);
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table></div>`;
}

// --- this process ------------------------------------------------------------------------------------------------

function readinessOf({ readiness }: ClusterStatus): Html {
  const checks = Object.entries(readiness.checks).map(
    ([name, result]) => html`<li class="${result === 'ok' ? 'good' : 'bad'}">${name}: ${result}</li>`,
  );
  const summary = readiness.ready ? 'Ready' : 'Not ready: no request should be sent here';
  return section(
    'This process',
    html`<p class="${readiness.ready ? 'good' : 'bad'}">${summary}</p><ul class="checks">${checks}</ul>`,
  );
}

function processOf({ metrics }: ClusterStatus): Html {
  const milliseconds = (name: string, fraction: number) => {
    const seconds = metrics.quantile(name, fraction);
    if (seconds === undefined) return 'none yet';
    return Number.isFinite(seconds) ? `≤ ${seconds * 1_000} ms` : 'longer than measured';
  };
  const count = (name: string) => metrics.sum(name)?.toLocaleString('en') ?? 'not here';
  const latencies = (
    [
      ['Requests', 'scriptorium_http_request_duration_seconds'],
      ['Commits', 'scriptorium_commit_batch_seconds'],
      ['Reads', 'scriptorium_read_batch_seconds'],
    ] as const
  ).map(([what, name]) => [what, milliseconds(name, 0.5), milliseconds(name, 0.99)]);
  const figures = (
    [
      ['Requests in flight', 'scriptorium_http_requests_in_flight'],
      ['Sockets for notices', 'scriptorium_sockets_open'],
      ['Sockets of the sync lane', 'scriptorium_sync_lane_sockets'],
      ['Actors in memory', 'scriptorium_actors'],
      ['Jobs running', 'scriptorium_jobs'],
      ['Shards held', 'scriptorium_shards'],
      ['Shards being handed over', 'scriptorium_shards_leaving'],
    ] as const
  ).map(([what, name]) => [what, count(name)]);
  return section(
    'Its work, since it started',
    table(['What', 'Half take', '99 of 100 take'], latencies),
    table(['What', 'Now'], figures),
  );
}

// --- the cluster -------------------------------------------------------------------------------------------------

const states: Readonly<Record<string, string>> = {
  [NodeState.LIVE]: 'live',
  [NodeState.DRAINING]: 'draining',
  [NodeState.EXPIRED]: 'expired',
  [NodeState.GONE]: 'gone',
};
const stateOf = ({ state }: Node): string => states[state] ?? 'unknown';

function nodesSection({ cluster }: ClusterStatus): Html {
  if (cluster === undefined) return section('Nodes', unknown);
  const present = cluster.nodes.filter(({ state }) => state !== NodeState.GONE);
  const live = present.filter(({ state }) => state === NodeState.LIVE);
  const others = present.filter(({ state }) => state !== NodeState.LIVE);
  const count = html`<p>${live.length} live, ${others.length} draining or expired.</p>`;
  const most = Math.max(1, ...present.map(({ shards }) => shards));
  const tableOf = (nodes: readonly Node[]) =>
    table(
      ['Node', 'State', 'Role', 'Release', 'Lease ends in', 'Shards'],
      nodes.map((node) => rowOf(node, most)),
    );
  if (present.length <= nodesMax) return section('Nodes', count, tableOf([...others, ...live]));
  return section(
    'Nodes',
    count,
    others.length === 0 ? html`` : tableOf(others),
    html`<details><summary>The ${live.length} live ones</summary>${tableOf(live)}</details>`,
  );
}

function rowOf(node: Node, most: number) {
  const isLive = node.state === NodeState.LIVE;
  const lease =
    isLive || node.state === NodeState.DRAINING ? `${(node.leaseExpiresInMs / 1_000).toFixed(1)} s` : 'over';
  return [
    node.id,
    html`<span class="${isLive ? 'good' : 'bad'}">${stateOf(node)}</span>`,
    node.roles,
    node.version,
    lease,
    html`<meter max="${most}" value="${node.shards}"></meter> ${node.shards}`,
  ];
}

/** Moves between two live nodes are not shown, because the database does not say where a shard is to go. */
function movesOf({ cluster }: ClusterStatus): Html {
  const title = 'Shards leaving a node, or without an owner';
  if (cluster === undefined) return section(title, unknown);
  const leaving = cluster.nodes.filter(({ state, shards }) => state !== NodeState.LIVE && shards > 0);
  const moves = leaving.map(
    (node) => html`<li>${node.shards} shards leave ${node.id}, which is ${stateOf(node)}</li>`,
  );
  if (cluster.freeShards > 0)
    moves.push(html`<li class="bad">${cluster.freeShards} shards have no owner: their users wait</li>`);
  if (moves.length === 0) return section(title, html`<p class="good">None.</p>`);
  return section(title, html`<ul>${moves}</ul>`);
}

// --- what gave up ------------------------------------------------------------------------------------------------

const pathOf = ({ kind, id }: Address): string => `${kind}/${id}`;
const command = (text: string): Html => html`<code>scriptorium ${text}</code>`;

function deadDeliveriesOf({ backlog }: ClusterStatus): Html {
  if (backlog === undefined) return section('Timers and tells', unknown);
  const { pendingTimers, pendingTells, deadTimerCount, deadTellCount } = backlog;
  const rows = [
    ...backlog.deadTimers.map(({ actor, name, attempts }) => [
      'timer',
      pathOf(actor),
      name,
      attempts,
      command(`timers --revive ${pathOf(actor)}/${name}`),
    ]),
    ...backlog.deadTells.map(({ tellId, target, name, attempts }) => [
      'tell',
      pathOf(target),
      name,
      attempts,
      command(`tells --revive ${tellId}`),
    ]),
  ];
  return section(
    'Timers and tells',
    html`<p>${pendingTimers} timers and ${pendingTells} tells wait.
<span class="${rows.length === 0 ? 'good' : 'bad'}">${deadTimerCount} timers and ${deadTellCount} tells are dead.</span></p>`,
    rows.length === 0 ? html`` : table(['What', 'Actor', 'Name', 'Attempts', 'Try again with'], rows),
  );
}

function deadMailsOf({ deadMails, metrics }: ClusterStatus): Html {
  if (deadMails === undefined) return section('Mail', unknown);
  const waiting = metrics.sum('scriptorium_mail_queue_mails') ?? 0;
  const rows = deadMails.map(({ id, attempts, lastFailure }) => [
    id,
    attempts,
    lastFailure ?? '',
    command(`mail retry ${id}`),
  ]);
  return section(
    'Mail',
    html`<p>${waiting} mails in the queue. <span class="${rows.length === 0 ? 'good' : 'bad'}">${
      rows.length === 0 ? 'None is dead.' : 'These are dead:'
    }</span></p>`,
    rows.length === 0 ? html`` : table(['Mail', 'Attempts', 'Last failure', 'Try again with'], rows),
  );
}

/** The statements behind a page count over the whole cluster. So everyone who looks within this time gets the same page. */
const cacheMs = 2_000;

/** Makes the page, at most once in two seconds, however many browsers are left open. */
export function createStatusPage(options: StatusOptions): () => Promise<string> {
  let page: Promise<string> | undefined;
  let cachedUntilMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = options.clock.monotonicMs();
    if (page === undefined || nowMs >= cachedUntilMs) {
      page = readStatus(options).then(statusPage);
      cachedUntilMs = nowMs + cacheMs;
    }
    return page;
  };
}
