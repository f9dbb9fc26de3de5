/** Users of a cluster, whose requests are spread over its gateways. */
import { type Account, headerSessions, register } from '../support/api-client.ts';
import { mixedItems } from '../support/steady-load.ts';

const users = 60;

export async function registerUsers(url: string): Promise<readonly Account[]> {
  const accounts: Account[] = [];
  for (let user = 0; user < users; user += 1) accounts.push(await register(url));
  return accounts;
}

/** One sync of the next user at the next gateway; resolves to its status. */
export function syncsOver(gateways: readonly string[], accounts: readonly Account[]) {
  return async (index: number): Promise<number> => {
    const account = accounts[Math.floor(index / 2) % accounts.length];
    const response = await fetch(new URL('/v1/items', gateways[index % gateways.length]), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${account?.accessToken}` },
      body: JSON.stringify({ api: headerSessions, items: mixedItems(index), limit: 1 }),
    });
    await response.arrayBuffer();
    return response.status;
  };
}
