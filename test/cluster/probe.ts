/** Users who do nothing but save a note now and then. They show whether everybody is served, and from when on again. */
import { randomUUID } from 'node:crypto';
import { headerSessions } from '../kit/account.ts';
import { note } from '../kit/items.ts';
import { SeededRandom } from '../kit/random.ts';
import { register, signIn } from './account.ts';
import { Client, UnansweredError } from './client.ts';
import { Tally } from './tally.ts';

/** Enough for some to live on each of three nodes. */
const usersCount = 12;
/** For the first attempt. */
export const timeoutMs = 1_500;
/**
 * A later attempt may take this share of the total time. On a busy machine the concurrent saves of all users may take
 * longer than the first attempt waits. Giving up and sending again would keep the machine busy until the end.
 */
const attemptShare = 1 / 6;
const pauseMaxMs = 200;
/** For each user. */
const openLimitMs = 60_000;

export class Probe {
  readonly #tokens: readonly string[];

  private constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  static async open(gateways: readonly string[]): Promise<Probe> {
    const tokens: string[] = [];
    for (let each = 0; each < usersCount; each += 1) {
      const client = clientOf(gateways, each, openLimitMs);
      tokens.push(await signIn(client, await register(client)));
    }
    return new Probe(tokens);
  }

  /** Milliseconds until one of the gateways acknowledged a save of every user; undefined: not in time. */
  async served(gateways: readonly string[], limitMs: number): Promise<number | undefined> {
    const begunMs = performance.now();
    try {
      await Promise.all(this.#tokens.map((token, index) => save(clientOf(gateways, index, limitMs), token)));
    } catch (error) {
      if (error instanceof UnansweredError) return undefined;
      throw error;
    }
    return performance.now() - begunMs;
  }

  /** The same, by each of them. */
  async servedByEach(gateways: readonly string[], limitMs: number): Promise<number | undefined> {
    const all = await Promise.all(gateways.map((gateway) => this.served([gateway], limitMs)));
    return all.reduce<number | undefined>(
      (most, each) => (most === undefined || each === undefined ? undefined : Math.max(most, each)),
      0,
    );
  }

  /** The refusal of a save that is sent once. */
  async refusal(gateway: string): Promise<{ readonly status: number; readonly retryAfter: string | null }> {
    const response = await fetch(`${gateway}/v1/items`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#tokens[0]}` },
      body: JSON.stringify({ api: headerSessions, items: [note({ uuid: randomUUID() })] }),
    });
    return { status: response.status, retryAfter: response.headers.get('retry-after') };
  }
}

function clientOf(gateways: readonly string[], preferred: number, limitMs: number): Client {
  const random = new SeededRandom(preferred);
  const deadlineMs = performance.now() + limitMs;
  const isOver = () => performance.now() > deadlineMs;
  const timeoutMaxMs = Math.max(timeoutMs, limitMs * attemptShare);
  const times = { timeoutMs, timeoutMaxMs, pauseMaxMs, isOver };
  return new Client({ who: 'probe', gateways, preferred, random, tally: new Tally(), ...times });
}

async function save(client: Client, token: string): Promise<void> {
  const body = { api: headerSessions, items: [note({ uuid: randomUUID() })] };
  const { status } = await client.call({ method: 'POST', path: '/v1/items', body, token });
  if (status !== 200) throw new Error(`a save was answered ${status}`);
}
