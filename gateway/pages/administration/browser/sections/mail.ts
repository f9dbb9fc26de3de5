/** Relays, the queue, and the last attempts to send mail. */
import { button, element, field, form, tableElement } from './elements.ts';
import type { PageTools } from './page.ts';

interface Relay {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly from: string;
  readonly host?: string;
  readonly credentialsConfigured: boolean;
}

interface QueueRecord {
  readonly id: string;
  readonly source: string;
  readonly attempts: number;
  readonly updatedAt: string;
  readonly nextAttemptAt: string | null;
  readonly lastFailure: string | null;
}

interface MailAttempt {
  readonly relayId: string;
  readonly source: string;
  readonly outcome: string;
  readonly failure: string | null;
  readonly startedAt: string;
  readonly durationMs: number;
}

const base = 'v1/admin/email-delivery';
const states = { dead: 'Given up', ready: 'Waiting', leased: 'Being sent' } as const;

export function mailSection(page: PageTools): HTMLElement {
  const [relays, queue, log] = [element('div'), element('div'), element('div')];
  const show = () => Promise.all([showRelays(page, relays), showQueue(page, queue), showLog(page, log)]);
  void show();
  return element(
    'section',
    {},
    element('h2', { textContent: 'Mail' }),
    button('Refresh', async () => void (await show())),
    element('h3', { textContent: 'Relays' }),
    relays,
    testForm(page),
    element('h3', { textContent: 'Queue' }),
    queue,
    element('h3', { textContent: 'Last attempts' }),
    log,
  );
}

async function showRelays({ server, say }: PageTools, panel: HTMLElement): Promise<void> {
  const answer = await server.call<{ readonly relays: readonly Relay[] }>('GET', `${base}/relays`);
  if ('refused' in answer) return say(answer.refused.message);
  const rows = answer.ok.relays.map(({ id, kind, host, from, enabled, credentialsConfigured }) => [
    element('code', { textContent: id }),
    host === undefined ? kind : `${kind} ${host}`,
    from,
    enabled ? 'yes' : 'no',
    credentialsConfigured ? 'yes' : 'no',
  ]);
  panel.replaceChildren(tableElement(['Relay', 'By', 'From', 'Enabled', 'Credentials'], rows));
}

function testForm({ server, say }: PageTools): HTMLElement {
  const recipient = element('input', { type: 'email', required: true, autocomplete: 'off' });
  const send = async () => {
    const answer = await server.call<{ readonly outcome: string; readonly relay: { readonly id: string } }>(
      'POST',
      `${base}/test`,
      { recipient: recipient.value.trim() },
    );
    say(
      'refused' in answer
        ? answer.refused.message
        : `${answer.ok.outcome}, by the relay ${answer.ok.relay.id}`,
    );
  };
  return form([field('Send a test to', recipient)], 'Send', send);
}

async function showQueue(page: PageTools, panel: HTMLElement): Promise<void> {
  const { server, say } = page;
  const parts: Node[] = [];
  for (const [state, title] of Object.entries(states)) {
    const answer = await server.call<{
      readonly records: readonly QueueRecord[];
      readonly nextCursor: string | null;
    }>('GET', `${base}/queue?state=${state}`);
    if ('refused' in answer) return say(answer.refused.message);
    const act = (method: string, path: string) => async () => {
      const done = await server.call(method, path);
      if ('refused' in done) say(done.refused.message);
      await showQueue(page, panel);
    };
    const rows = answer.ok.records.map(({ id, source, attempts, updatedAt, nextAttemptAt, lastFailure }) => [
      source,
      String(attempts),
      lastFailure ?? '',
      updatedAt,
      nextAttemptAt ?? '',
      element(
        'span',
        {},
        button('Try again', act('POST', `${base}/queue/${encodeURIComponent(id)}/retry`)),
        button('Discard', act('DELETE', `${base}/queue/${encodeURIComponent(id)}`)),
      ),
    ]);
    const more = answer.ok.nextCursor === null ? '' : ' (the first of them)';
    parts.push(
      element('h4', { textContent: `${title}${more}` }),
      tableElement(['For', 'Attempts', 'Last failure', 'Changed', 'Next attempt', ''], rows),
    );
  }
  panel.replaceChildren(...parts);
}

async function showLog({ server, say }: PageTools, panel: HTMLElement): Promise<void> {
  const answer = await server.call<{ readonly entries: readonly MailAttempt[] }>(
    'GET',
    `${base}/logs?limit=20`,
  );
  if ('refused' in answer) return say(answer.refused.message);
  const rows = answer.ok.entries.map(({ startedAt, relayId, source, outcome, failure, durationMs }) => [
    startedAt,
    relayId,
    source,
    failure === null ? outcome : `${outcome}: ${failure}`,
    `${durationMs} ms`,
  ]);
  panel.replaceChildren(tableElement(['Begun', 'Relay', 'For', 'Outcome', 'Took'], rows));
}
