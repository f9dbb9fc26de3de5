/** The devices of an account that listen for notices, and when each has received one. */
import type { Report } from '../checkers/checker.ts';
import type { SimulatedTime } from '../time.ts';
import type { LaneServer } from './server.ts';

interface Ear {
  isOpen: boolean;
  heardMs: number;
}

const pollMs = 250;
/** If the hint of a new owner was lost, a gateway learns of it when it renews its subscriptions. */
const noticeMs = 700_000;

export class Audience {
  readonly #time: SimulatedTime;
  readonly #report: Report;
  readonly #ears = new Map<string, Ear>();
  /** Devices whose last save is next. */
  readonly #ready = new Set<string>();

  constructor(time: SimulatedTime, report: Report) {
    this.#time = time;
    this.#report = report;
  }

  isListening(device: string): boolean {
    return this.#ears.get(device)?.isOpen ?? false;
  }

  /** Unless it listens already. */
  listen(device: string, server: LaneServer, claims: { userUuid: string; sessionUuid: string }): void {
    if (this.#ears.has(device)) return;
    const ear = { isOpen: false, heardMs: 0 };
    this.#ears.set(device, ear);
    server.listen(claims, {
      opened: () => {
        ear.isOpen = true;
      },
      heard: () => {
        ear.heardMs = this.#time.nowMs;
      },
      closed: () => {
        ear.isOpen = false;
        if (this.#ears.get(device) === ear) this.#ears.delete(device);
      },
    });
  }

  /** Resolves once all of them are there. */
  async meet(device: string, devices: number): Promise<void> {
    this.#ready.add(device);
    while (this.#ready.size < devices) await this.#time.sleep(pollMs);
  }

  /** The device has saved something, requested at this time: the other listeners hear of it. */
  async hears(saver: string, sinceMs: number): Promise<void> {
    const untilMs = this.#time.nowMs + noticeMs;
    const deaf = () =>
      [...this.#ears].find(([device, ear]) => device !== saver && ear.isOpen && ear.heardMs < sinceMs)?.[0];
    while (deaf() !== undefined && this.#time.nowMs < untilMs) await this.#time.sleep(pollMs);
    const device = deaf();
    if (device !== undefined) this.#report(`${device} has never heard of what ${saver} saved over the lane`);
  }
}
