/** The client's end of a socket of the lane: questions, each with its answer. */
import type { Frame } from '../checkers/commands.ts';
import type { SimulatedTime } from '../time.ts';
import type { LaneLink } from './link.ts';
import type { LaneServer } from './server.ts';

export class LaneSocketClient {
  readonly session: string;
  readonly #time: SimulatedTime;
  readonly #link: LaneLink;
  readonly #waiting = new Map<string, (answer: Frame | undefined) => void>();
  #sequence = 0;
  #isOpen = true;

  constructor(time: SimulatedTime, server: LaneServer, session: string) {
    this.#time = time;
    this.session = session;
    this.#link = server.dial(session, {
      received: (text) => this.#received(JSON.parse(text) as Frame),
      closed: () => this.#closed(),
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  close(): void {
    this.#link.closeByClient();
    this.#closed();
  }

  /** The deciding answer, after ACCEPTED. Undefined: the socket is closed, or nothing came in time. */
  ask(
    type: string,
    payload: object,
    { commandId, digest }: { readonly commandId?: string; readonly digest?: string },
    withinMs: number,
  ): Promise<Frame | undefined> {
    const requestId = `r${this.#sequence}`;
    return new Promise((resolve) => {
      if (!this.#isOpen) return resolve(undefined);
      this.#time.after(withinMs, () => this.#answer(requestId, undefined));
      this.#waiting.set(requestId, resolve);
      const ids = { requestId, commandId: commandId ?? requestId, ...(digest && { digest }) };
      const payloadLength = Buffer.byteLength(JSON.stringify(payload));
      const head = { version: 1, channel: 'sync', type, ...ids, sequence: this.#sequence };
      this.#sequence += 1;
      this.#link.send(JSON.stringify({ ...head, payloadLength, payload }));
    });
  }

  #received(frame: Frame): void {
    if (frame.type !== 'ACCEPTED') this.#answer(frame.requestId, frame);
  }

  #answer(requestId: string, frame: Frame | undefined): void {
    const resolve = this.#waiting.get(requestId);
    this.#waiting.delete(requestId);
    resolve?.(frame);
  }

  #closed(): void {
    this.#isOpen = false;
    for (const requestId of [...this.#waiting.keys()]) this.#answer(requestId, undefined);
  }
}
