/**
 * Circles of people who share vaults and files, each acting like real users. People know only what the server shows
 * them about a vault, so it must refuse some of their requests.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LongRandom, type SeededRandom } from '../../kit/random.ts';
import { check } from '../checker/checker.ts';
import { type Client, openClient } from '../client.ts';
import type { History } from '../history.ts';
import type { Tally } from '../tally.ts';
import { count, erase, move, read, upload } from './files.ts';
import { readFinals } from './finals.ts';
import { saveItem } from './items.ts';
import { listen } from './listener.ts';
import {
  answerInvite,
  changeInvite,
  designateSurvivor,
  endVault,
  invite,
  leave,
  makeVault,
  removeMember,
} from './members.ts';
import { Person } from './person.ts';
import { SharedFacts } from './shared-facts.ts';

export interface CirclesOptions {
  readonly gateways: readonly string[];
  readonly circles: number;
  readonly seed: number;
  readonly history: History;
  readonly tally: Tally;
  /** Between two operations of a person, on average. */
  readonly pauseMs: number;
  readonly timeoutMs: number;
  /** See `ClientOptions`. */
  readonly timeoutMaxMs?: number;
  /** The most that the files of an account may take. */
  readonly limitBytes: number;
}

const peopleInCircle = 4;
const finishLimitMs = 60_000;
/** Half a minute after the death of a host, the moves of its files are finished. */
const restLimitMs = 60_000;
const restPauseMs = 1_000;

/** How often people do what, in a thousand. */
const habits: readonly (readonly [number, (person: Person) => Promise<void>])[] = [
  [310, saveItem],
  [180, (person) => person.device.sync()],
  [80, read],
  [80, upload],
  [60, erase],
  [60, move],
  [20, count],
  [60, (person) => person.listVaults()],
  [20, makeVault],
  [50, invite],
  [60, answerInvite],
  [10, changeInvite],
  [20, removeMember],
  [10, leave],
  [16, designateSurvivor],
  [5, endVault],
  [4, (person) => person.beginAnew()],
];
const habitsTotal = habits.reduce((sum, [often]) => sum + often, 0);

export class Circles {
  readonly #options: CirclesOptions;
  readonly #random: SeededRandom;
  readonly #people: Person[] = [];
  #running: Promise<readonly PromiseSettledResult<void>[]> = Promise.resolve([]);
  #isStopping = false;
  #finishBy = Number.POSITIVE_INFINITY;

  constructor(options: CirclesOptions) {
    this.#options = options;
    // Different from that of the devices beside them, which would make the same uuids.
    this.#random = new LongRandom(~options.seed);
  }

  async open(): Promise<void> {
    const { circles } = this.#options;
    for (let each = 0; each < circles; each += 1) {
      const facts = new SharedFacts();
      const options = { ...this.#options, facts };
      for (let number = 0; number < peopleInCircle; number += 1) {
        const random = new LongRandom(this.#random.below(2 ** 32));
        this.#people.push(await Person.enter({ ...options, client: this.#client(), random }));
      }
    }
  }

  start(): void {
    const isOver = () => this.#isStopping;
    const lives = this.#people.map((person) => this.#live(person));
    const ears = this.#people.map((person) => listen(person, isOver));
    this.#running = Promise.allSettled([...lives, ...ears]);
  }

  /** Lets everybody finish their work, and records the state of everything once it has come to rest. */
  async finish(): Promise<void> {
    this.#isStopping = true;
    this.#finishBy = performance.now() + finishLimitMs;
    for (const end of await this.#running) if (end.status === 'rejected') throw end.reason;
    await this.#comeToRest();
    this.#options.history.flush();
  }

  /** Ends it immediately; harmless after it has finished. */
  abandon(): void {
    this.#isStopping = true;
    this.#finishBy = 0;
  }

  /** The consequences of an answer may take seconds. The check repeats until nothing is wrong, or the time is over. */
  async #comeToRest(): Promise<void> {
    const { history } = this.#options;
    // Before the time is set: the check of a long history takes half a minute.
    const wrongBefore = check(history.entries).length;
    const untilMs = performance.now() + restLimitMs;
    this.#finishBy = untilMs + finishLimitMs;
    for (;;) {
      // Twice: the others must get what one device saved in its last operation.
      for (const { device } of [...this.#people, ...this.#people]) await device.sync();
      const finals = await readFinals(this.#people, () => this.#client());
      const isAtRest = check([...history.entries, ...finals]).length <= wrongBefore;
      if (isAtRest || performance.now() > untilMs) {
        for (const entry of finals) history.add(entry);
        return;
      }
      await pause(restPauseMs);
    }
  }

  #client(): Client {
    const random = new LongRandom(this.#random.below(2 ** 32));
    return openClient('person', random, this.#options, () => performance.now() > this.#finishBy);
  }

  async #live(person: Person): Promise<void> {
    while (!this.#isStopping) {
      await choose(person)(person);
      await pause(this.#options.pauseMs * 2 * person.random.fraction());
    }
  }
}

function choose({ random }: Person): (person: Person) => Promise<void> {
  let drawn = random.below(habitsTotal);
  for (const [often, act] of habits) {
    if (drawn < often) return act;
    drawn -= often;
  }
  throw new Error('nothing was drawn');
}
