/** The devices of an account that listen for notices, and when each has received one. */
import type { Report } from '../checkers/checker.ts';
import type { SimulatedTime } from '../time.ts';
import type { LaneServer } from './server.ts';

interface Listener {
  isOpen: boolean;
  notifiedMs: number;
}

const pollMs = 250;
/** If the hint of a new owner was lost, a gateway learns of it when it renews its subscriptions. */
const noticeMs = 700_000;

export class Audience {
  readonly #time: SimulatedTime;
  readonly #report: Report;
  readonly #listeners = new Map<string, Listener>();
  /** Devices whose last save is next. */
  readonly #ready = new Set<string>();

  constructor(time: SimulatedTime, report: Report) {
    this.#time = time;
    this.#report = report;
  }

  isListening(device: string): boolean {
    return this.#listeners.get(device)?.isOpen ?? false;
  }

  /** Unless it listens already. */
  listen(device: string, server: LaneServer, claims: { userUuid: string; sessionUuid: string }): void {
    if (this.#listeners.has(device)) return;
    const listener = { isOpen: false, notifiedMs: 0 };
    this.#listeners.set(device, listener);
    server.listen(claims, {
      opened: () => {
        listener.isOpen = true;
      },
      notified: () => {
        listener.notifiedMs = this.#time.nowMs;
      },
      closed: () => {
        listener.isOpen = false;
        if (this.#listeners.get(device) === listener) this.#listeners.delete(device);
      },
    });
  }

  /** Resolves once all of them are there. */
  async waitForAll(device: string, devices: number): Promise<void> {
    this.#ready.add(device);
    while (this.#ready.size < devices) await this.#time.sleep(pollMs);
  }

  /** The device has saved something, requested at this time: the other listeners are notified. */
  async notifiesOthers(saver: string, sinceMs: number): Promise<void> {
    const untilMs = this.#time.nowMs + noticeMs;
    const missing = () =>
      [...this.#listeners].find(
        ([device, listener]) => device !== saver && listener.isOpen && listener.notifiedMs < sinceMs,
      )?.[0];
    while (missing() !== undefined && this.#time.nowMs < untilMs) await this.#time.sleep(pollMs);
    const device = missing();
    if (device !== undefined)
      this.#report(`${device} was never notified of what ${saver} saved over the lane`);
  }
}
