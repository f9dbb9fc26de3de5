import { type Account, headerSessions } from '../../test/support/api-client.ts';
import { requestBytes } from '../http-load.ts';

/** The bytes of a sync request, for the raw load generator. */
export function syncBytes(url: string, account: Account, body: object): Buffer {
  return requestBytes(
    'POST',
    new URL('/v1/items', url),
    { authorization: `Bearer ${account.accessToken}` },
    JSON.stringify({ api: headerSessions, limit: 150, ...body }),
  );
}
