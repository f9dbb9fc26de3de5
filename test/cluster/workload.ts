/**
 * Many devices of several users at once, each acting like a real one. They write, edit, delete and sync, check that everything is
 * there, and sign out and in again. Devices of one user edit the same items, so there are real conflicts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LongRandom, type SeededRandom } from '../kit/random.ts';
import { type Account, register, signIn } from './account.ts';
import { type Client, openClient } from './client.ts';
import { Device, foreignToken, readItems } from './device.ts';
import type { History } from './history.ts';
import type { Tally } from './tally.ts';

export interface WorkloadOptions {
  readonly gateways: readonly string[];
  readonly users: number;
  readonly devicesOfEach: number;
  readonly seed: number;
  readonly history: History;
  readonly tally: Tally;
  /** Between two actions of a device, on average. */
  readonly pauseMs: number;
  readonly timeoutMs: number;
  /** See `ClientOptions`. */
  readonly timeoutMaxMs?: number;
}

/** Per user, so that the last full sync stays small. */
const itemsMax = 120;
const finishLimitMs = 60_000;

interface Seat {
  readonly user: Account;
  readonly client: Client;
  readonly random: SeededRandom;
  device: Device;
  /** The last session that was signed out here. */
  former: Device | undefined;
}

export class Workload {
  readonly #options: WorkloadOptions;
  readonly #random: SeededRandom;
  readonly #seats: Seat[] = [];
  #running: Promise<readonly PromiseSettledResult<void>[]> = Promise.resolve([]);
  #isStopping = false;
  #finishBy = Number.POSITIVE_INFINITY;
  #devices = 0;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    this.#random = new LongRandom(options.seed);
  }

  /** Registers all users and signs all devices in. */
  async open(): Promise<void> {
    const { users, devicesOfEach } = this.#options;
    for (let each = 0; each < users; each += 1) {
      const user = await register(this.#client());
      for (let number = 0; number < devicesOfEach; number += 1) {
        const client = this.#client();
        const random = new LongRandom(this.#random.below(2 ** 32));
        const device = await this.#signIn(user, client, random);
        this.#seats.push({ user, client, random, device, former: undefined });
      }
    }
  }

  start(): void {
    this.#running = Promise.allSettled(this.#seats.map((seat) => this.#live(seat)));
  }

  /** Lets every device finish its work and sync to the end, and records what new devices receive. */
  async finish(): Promise<void> {
    this.#isStopping = true;
    this.#finishBy = performance.now() + finishLimitMs;
    for (const end of await this.#running) if (end.status === 'rejected') throw end.reason;
    // Twice: the others must get what one device saved in its last act.
    for (const { device } of [...this.#seats, ...this.#seats]) await device.sync();
    const { history } = this.#options;
    for (const user of new Set(this.#seats.map((seat) => seat.user))) {
      const client = this.#client();
      const accessToken = await signIn(client, user);
      const everything = await readItems({ client, accessToken }, foreignToken);
      const live = await readItems({ client, accessToken }, undefined);
      history.add({ event: 'final', user: user.userUuid, everything, live });
    }
    history.flush();
  }

  /** Ends it immediately; harmless after it has finished. */
  abandon(): void {
    this.#isStopping = true;
    this.#finishBy = 0;
  }

  #client(): Client {
    const random = new LongRandom(this.#random.below(2 ** 32));
    return openClient('device', random, this.#options, () => performance.now() > this.#finishBy);
  }

  async #signIn(user: Account, client: Client, random: SeededRandom): Promise<Device> {
    this.#devices += 1;
    const name = `${user.userUuid}/${this.#devices}`;
    const accessToken = await signIn(client, user);
    const holdsLane = this.#devices % 2 === 0;
    return new Device({
      ...this.#options,
      user: user.userUuid,
      name,
      accessToken,
      client,
      random,
      holdsLane,
    });
  }

  async #live(seat: Seat): Promise<void> {
    while (!this.#isStopping) {
      await this.#act(seat);
      await pause(this.#options.pauseMs * 2 * seat.random.fraction());
    }
  }

  async #act(seat: Seat): Promise<void> {
    const { device, random } = seat;
    const chance = random.fraction();
    const isFull = device.live.length >= itemsMax;
    if (chance < 0.22) return isFull ? device.remove() : device.create(1);
    if (chance < 0.25) return isFull ? device.remove() : device.upload();
    if (chance < 0.6) return device.edit();
    if (chance < 0.7) return device.remove();
    if (chance < 0.92) return device.sync();
    if (chance < 0.97) return device.compare();
    if (chance < 0.985) return this.#signOutAndIn(seat);
    if (chance < 0.993) return void (await seat.former?.isRefused());
    // A new user who appears once: the registration must leave two tells, between the address and the account.
    await register(seat.client);
  }

  async #signOutAndIn(seat: Seat): Promise<void> {
    await seat.device.signOut();
    seat.former = seat.device;
    seat.device = await this.#signIn(seat.user, seat.client, seat.random);
  }
}
