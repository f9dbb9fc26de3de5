/**
 * A user joins a vault in which very many items were deleted. Their device has a token, so it is told of all of them: it might
 * hold items that have moved there (docs/protocol/sync.md, "Items of vaults").
 */
import { type Account, register, type SyncReply, sync } from '../support/api-client.ts';
import { counters } from '../support/counters.ts';
import { median } from '../support/figures.ts';
import { syncText } from '../support/requests.ts';
import { type LoadServer, tellsDelivered } from '../support/server.ts';
import { admit, makeVault, vaultItem } from '../support/vaults.ts';

const deletedItems = 100_000;
const liveItems = 1_000;
const savedAtOnce = 1_000;
const counted = ['database transactions', 'rows fetched', 'server CPU, µs', 'database CPU, µs'];

/** Makes only `part` of the items. */
export async function joining(server: LoadServer, part: number) {
  const { url } = server;
  const [owner, member] = [await register(url), await register(url)];
  const vault = await makeVault(url, owner);
  const [deleted, live] = [Math.ceil(deletedItems * part), Math.ceil(liveItems * part)];
  await save(url, owner, deleted, () => ({ ...vaultItem(vault), content: null, deleted: true }));
  await save(url, owner, live, () => vaultItem(vault));
  const { sync_token } = await sync(url, member, { items: [] });
  const startMs = performance.now();
  await admit(url, owner, vault, member);
  const figures = { 'invited and joined, ms': performance.now() - startMs };
  await tellsDelivered(server);
  const requests = {
    'vault alone': { request: { shared_vault_uuids: [vault] }, expected: live },
    'next sync': { request: { sync_token }, expected: deleted + live },
  };
  for (const [name, { request, expected }] of Object.entries(requests)) {
    const before = await counters(server);
    const { items, ...told } = await pagesOf(url, member, request);
    const after = await counters(server);
    if (items !== expected) throw new Error(`${items} of ${expected} items came by the ${name}`);
    for (const [what, value] of Object.entries(told)) Object.assign(figures, { [`${name}: ${what}`]: value });
    for (const what of counted) {
      Object.assign(figures, { [`${name}: ${what}`]: (after[what] ?? 0) - (before[what] ?? 0) });
    }
  }
  return figures;
}

async function save(url: string, owner: Account, count: number, newItem: () => object): Promise<void> {
  for (let saved = 0; saved < count; ) {
    const items = Array.from({ length: Math.min(savedAtOnce, count - saved) }, newItem);
    const { saved_items, conflicts } = await sync(url, owner, { items });
    if (saved_items.length !== items.length) throw new Error(`not saved: ${JSON.stringify(conflicts[0])}`);
    saved += items.length;
  }
}

/** Every page of a sync, one after another as clients ask for them. */
async function pagesOf(url: string, member: Account, request: object) {
  const startMs = performance.now();
  const pageMs: number[] = [];
  let [items, bytes] = [0, 0];
  for (let tokens = {}; ; ) {
    const beganMs = performance.now();
    const text = await syncText(url, member, { items: [], ...request, ...tokens });
    pageMs.push(performance.now() - beganMs);
    bytes += text.length;
    const page = (JSON.parse(text) as { data: SyncReply }).data;
    items += page.retrieved_items.length;
    const { sync_token, cursor_token } = page;
    if (cursor_token === undefined) break;
    tokens = { sync_token, cursor_token };
  }
  return {
    pages: pageMs.length,
    items,
    'bytes of answers': bytes,
    ms: performance.now() - startMs,
    'a page, p50 ms': median(pageMs),
    'a page, longest ms': Math.max(...pageMs),
  };
}
