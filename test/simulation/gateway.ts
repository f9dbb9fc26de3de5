/** What stands between a client and the actors: it asks, and repeats under the same call id while that can help. */
import type { Answer, Ask, Network } from './network.ts';
import type { SimulatedTime } from './time.ts';

export type Outcome =
  | { readonly outcome: 'done'; readonly value: unknown }
  /** Certainly without effect. */
  | { readonly outcome: 'none'; readonly error: Error }
  | { readonly outcome: 'unknown'; readonly error: Error };

export interface Patience {
  readonly attempts: number;
  readonly attemptMs: number;
}

const pauseMs = 150;

export class Gateway {
  readonly #network: Network;
  readonly #time: SimulatedTime;

  constructor(network: Network, time: SimulatedTime) {
    this.#network = network;
    this.#time = time;
  }

  async ask(ask: Ask, patience: Patience): Promise<Outcome> {
    let uncertain = false;
    for (let attempt = 1; ; attempt += 1) {
      const answer: Answer = await this.#network.ask(ask, patience.attemptMs);
      if (answer.outcome === 'done') return answer;
      uncertain ||= answer.outcome === 'maybe';
      if (!answer.again || attempt >= patience.attempts) {
        return { outcome: uncertain ? 'unknown' : 'none', error: answer.error };
      }
      await this.#time.sleep(pauseMs * attempt);
    }
  }
}
