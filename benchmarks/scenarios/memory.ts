/** Memory of our own process: idle after its start, and for each active user with a hundred items. */
import { register, upload } from '../support/api-client.ts';
import { residentBytes } from '../support/machine.ts';
import type { LoadServer } from '../support/server.ts';

const users = 300;
const atOnce = 10;

export async function memory(server: LoadServer) {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const idle = residentBytes(server.pid);
  const one = async () => upload(server.url, await register(server.url), 100);
  // The first few also grow the heap, pools and compiled code, which belong to no user.
  for (let made = 0; made < 50; made += atOnce) await Promise.all(Array.from({ length: atOnce }, one));
  const warm = residentBytes(server.pid);
  for (let made = 0; made < users; made += atOnce) await Promise.all(Array.from({ length: atOnce }, one));
  return {
    'at idle, MB': idle / 1e6,
    'after 50 users, MB': warm / 1e6,
    'each further active user, KB': (residentBytes(server.pid) - warm) / users / 1e3,
  };
}
