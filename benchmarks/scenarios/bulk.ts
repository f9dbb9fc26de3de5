/** Upload and first sync of 10,000 items, and the activation of a user with 100,000. */
import { register, sync, upload } from '../support/api-client.ts';
import { median } from '../support/figures.ts';
import { residentBytes } from '../support/machine.ts';
import { firstSync } from '../support/requests.ts';
import type { LoadServer } from '../support/server.ts';

const many = 10_000;
const veryMany = 100_000;
/** In one process. The first one finds code that has never run. */
const firstSyncs = 5;

export async function bulk(server: LoadServer) {
  const account = await register(server.url);
  const uploadMs = await timed(() => upload(server.url, account, many));
  const firstSyncsMs: number[] = [];
  for (let run = 0; run < firstSyncs; run += 1) {
    const ms = await timed(async () => {
      const items = await firstSync(server.url, account);
      if (items !== many) throw new Error(`${items} of ${many} items came`);
    });
    firstSyncsMs.push(ms);
  }
  const large = await register(server.url);
  await upload(server.url, large, veryMany);
  const { sync_token } = await sync(server.url, large, { limit: 1 });
  const again = await server.restart();
  try {
    // Starts with another user, so that the figure is the activation and not the first query of a process.
    await sync(again.url, account, { limit: 1 });
    const before = residentBytes(again.pid);
    const activationMs = await timed(() => sync(again.url, large, { sync_token, limit: 1 }));
    return {
      'upload of 10,000 items, items/s': (many * 1_000) / uploadMs,
      'first sync of 10,000 items, items/s': (many * 1_000) / median(firstSyncsMs),
      'activation of a user with 100,000 items, ms': activationMs,
      'memory of that activation, MB': (residentBytes(again.pid) - before) / 1e6,
    };
  } finally {
    await again.stop();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
