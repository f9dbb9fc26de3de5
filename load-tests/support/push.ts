/** Measures from a save on one device to its frame at the user's other device. */
import { Rate, Trend } from 'k6/metrics';
import { clearTimeout, setTimeout } from 'k6/timers';
import { asyncCall } from './call.ts';
import { ciphertext } from './ciphertext.ts';
import { note, saved, syncCall } from './items.ts';
import { slice } from './slice.ts';
import { openSocket } from './socket.ts';
import { nextOf, watchedUsers } from './users.ts';
import { uuid } from './uuid.ts';

const saveToPush = new Trend('save_to_push', true);
const pushLost = new Rate('push_lost');
const savesOfSocket = 5;
const lostAfterMs = 10_000;

/** One device opens a socket and hears of the other one's saves. */
export async function push(): Promise<void> {
  const user = nextOf(watchedUsers);
  const [phone = '', laptop = ''] = user.accessTokens;
  const heard = new Heard();
  const socket = await openSocket(laptop, (text) => heard.of(text));
  if (socket === undefined) return;
  let { syncToken } = user;
  for (let saves = 0; saves < savesOfSocket; saves += 1) {
    const id = uuid();
    const items = [note(ciphertext(), { uuid: id, updated_at_timestamp: 0 })];
    const beganMs = Date.now();
    const call = syncCall({ operation: 'new-note', token: phone, items, syncToken });
    const [reply, heardMs] = await Promise.all([asyncCall(call, saved), heard.waitFor(id)]);
    pushLost.add(heardMs === undefined, { slice: slice() });
    if (heardMs !== undefined) saveToPush.add(heardMs - beganMs, { slice: slice() });
    syncToken = reply?.sync_token ?? syncToken;
  }
  socket.close();
}

/** The frames of a socket. */
class Heard {
  readonly #awaited = new Map<string, () => void>();

  of(text: string): void {
    if (!text.includes('"SYNC_ITEMS_PUSHED"')) return;
    for (const [id, heard] of this.#awaited) if (text.includes(id)) heard();
  }

  /** When this item was pushed; undefined if it never was. */
  waitFor(id: string): Promise<number | undefined> {
    return new Promise((resolve) => {
      const end = (atMs: number | undefined) => {
        clearTimeout(alarm);
        this.#awaited.delete(id);
        resolve(atMs);
      };
      const alarm = setTimeout(() => end(undefined), lostAfterMs);
      this.#awaited.set(id, () => end(Date.now()));
    });
  }
}
