/**
 * The syncs of a device on the sync lane, through the published client. Each has a name. It goes over the lane if
 * possible, and otherwise over HTTP under the same name.
 */
import { randomUUID } from 'node:crypto';
import {
  digestOf,
  type LaneConnection,
  type LaneEnvironment,
  type LaneEvents,
  type LaneRequest,
  type LaneResponse,
  SyncLaneClient,
} from '../../docs/protocol/sync-lane-client.ts';
import type { SeededRandom } from '../kit/random.ts';
import { connect, isRefused } from '../kit/socket-client.ts';
import type { Answer, Client, Request } from './client.ts';
import type { FailureReason, Tally } from './tally.ts';

export interface LaneOptions {
  readonly client: Client;
  readonly accessToken: string;
  readonly deviceId: string;
  readonly random: SeededRandom;
  readonly tally: Tally;
}

const itemsPath = '/v1/items';
/** The limit of each wait of the client, so that it gives up a lost answer before the next disturbance comes. */
const patienceMs = 5_000;

export class Lane {
  readonly #options: LaneOptions;
  readonly #client: SyncLaneClient;
  /** For the current sync. */
  #attempts = 0;
  #again: (reason: FailureReason) => void = () => {};

  constructor(options: LaneOptions) {
    this.#options = options;
    const environment: LaneEnvironment = {
      request: (request) => this.#request(request),
      dial: (path, events) => this.#dial(path, events),
      schedule: (delayMs, callback) => {
        const timer = setTimeout(callback, Math.min(delayMs, patienceMs)).unref();
        return () => clearTimeout(timer);
      },
      random: () => options.random.fraction(),
    };
    this.#client = new SyncLaneClient(environment, options.deviceId);
  }

  /** Like `Client.call`, with the name of the sync. */
  async sync(
    body: object,
    again: (reason: FailureReason) => void,
  ): Promise<Answer & { readonly command: string }> {
    const command = randomUUID();
    this.#attempts = 0;
    this.#again = again;
    // The value after a trip through JSON.
    const named = JSON.parse(JSON.stringify(body)) as object;
    const { status, data, by } = await this.#client.run({ id: command, body: named });
    if (by === 'lane') this.#options.tally.overLane += 1;
    return { status, body: data, bytes: Buffer.alloc(0), command };
  }

  /** The answer to a repeat of the same command. */
  async repeat(command: string, body: object): Promise<Answer> {
    const { client } = this.#options;
    const named = JSON.parse(JSON.stringify(body)) as object;
    const headers = { 'x-sync-command-id': command, 'x-sync-command-digest': await digestOf(named) };
    return client.call({ ...this.#signed(itemsPath, named), headers });
  }

  close(): void {
    this.#client.close();
  }

  async #request({ path, headers, body }: LaneRequest): Promise<LaneResponse> {
    const { client } = this.#options;
    const request = { ...this.#signed(path, body), headers };
    if (path !== itemsPath) {
      const { status, body: answer } = (await client.once(request)) ?? { status: 503, body: undefined };
      return { status, body: answer };
    }
    this.#sends();
    const { status, body: answer } = await client.call(request, this.#again);
    return { status, body: answer };
  }

  #signed(path: string, body: object): Request {
    return { method: 'POST', path, body, token: this.#options.accessToken };
  }

  /** Anything sent before may have taken effect. */
  #sends(): void {
    this.#attempts += 1;
    if (this.#attempts > 1) this.#again('no-answer');
  }

  #dial(path: string, { opened, received, closed }: LaneEvents): LaneConnection {
    const { gateway } = this.#options.client;
    const socket = connect(`${gateway}${path}`, { headers: { origin: gateway }, onText: received });
    socket.then((dialled) => {
      if (isRefused(dialled)) return closed();
      opened();
      return dialled.closed.then(closed, closed);
    }, closed);
    return {
      send: (text) => {
        if (JSON.parse(text).type === 'COMMAND') this.#sends();
        void socket.then((dialled) => isRefused(dialled) || dialled.send(text), closed);
      },
      close: () => void socket.then((dialled) => isRefused(dialled) || dialled.end(), closed),
    };
  }
}
