import { Agent, request } from 'node:http';
import { requestBytes } from '../http-load.ts';
import { type Account, clientHeaders, headerSessions } from './api-client.ts';

const syncBody = (body: object) => JSON.stringify({ api: headerSessions, limit: 150, ...body });
const bearer = (account: Account) => ({ authorization: `Bearer ${account.accessToken}`, ...clientHeaders });

/** The bytes of a sync request, for the raw load generator. */
export function syncBytes(url: string, account: Account, body: object): Buffer {
  return requestBytes('POST', new URL('/v1/items', url), bearer(account), syncBody(body));
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

export function syncText(url: string, account: Account, body: object): Promise<string> {
  const headers = { ...bearer(account), 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(new URL('/v1/items', url), { method: 'POST', headers, agent }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () => {
        if (reply.statusCode === 200) resolve(Buffer.concat(chunks).toString('latin1'));
        else reject(new Error(`a sync answered ${reply.statusCode}`));
      });
    });
    sent.on('error', reject);
    sent.end(syncBody(body));
  });
}

const uuidPattern = /"uuid":"([0-9a-f-]{36})"/g;
export const syncTokenPattern = /"sync_token":"([^"]+)"/;
export const cursorTokenPattern = /"cursor_token":"([^"]+)"/;

/**
 * A first sync of everything; returns how many items came. It searches its pages as text. Parsing them would cost the
 * machine nearly as much as answering them.
 */
export async function firstSync(url: string, account: Account): Promise<number> {
  const seen = new Set<string>();
  let tokens: object | undefined = {};
  while (tokens !== undefined) {
    const page = await syncText(url, account, { items: [], ...tokens });
    for (const [, uuid = ''] of page.matchAll(uuidPattern)) seen.add(uuid);
    const cursor_token = cursorTokenPattern.exec(page)?.[1];
    const sync_token = syncTokenPattern.exec(page)?.[1];
    tokens = cursor_token === undefined ? undefined : { sync_token, cursor_token };
  }
  return seen.size;
}
