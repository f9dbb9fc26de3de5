/**
 * The frames of the published client (docs/protocol/sync-lane-client.ts), for tests that send them one by one, wrong
 * ones too.
 */
import { digestOf, type LaneFrame, LaneFrames } from '../../docs/protocol/sync-lane-client.ts';

export { digestOf, type LaneFrame };

export interface LaneTransport {
  send(text: string): void;
}

export class LaneClient {
  readonly frames: LaneFrame[] = [];
  readonly #made = new LaneFrames();
  readonly #transport: LaneTransport;
  readonly #waiting = new Set<() => void>();

  constructor(transport: LaneTransport) {
    this.#transport = transport;
  }

  /** Call with every incoming text. */
  received(text: string): void {
    this.frames.push(this.#made.read(text));
    for (const check of [...this.#waiting]) check();
  }

  /** A frame with these fields, completed with the usual ones. */
  send(type: string, payload: object, more: Partial<LaneFrame> = {}): LaneFrame {
    const frame = this.#made.make(type, payload, more);
    this.#transport.send(JSON.stringify(frame));
    return frame;
  }

  async command(commandId: string, body: object): Promise<LaneFrame> {
    return this.send('COMMAND', { command: 'SYNC_ITEMS', body }, { commandId, digest: await digestOf(body) });
  }

  async status(commandId: string, body: object): Promise<LaneFrame> {
    return this.send('STATUS', {}, { commandId, digest: await digestOf(body) });
  }

  /** The first frame of one of these types that answers this one, once it is there. */
  answer(to: Pick<LaneFrame, 'requestId'>, ...types: readonly string[]): Promise<LaneFrame> {
    return this.next(({ requestId, type }) => requestId === to.requestId && types.includes(type));
  }

  next(predicate: (frame: LaneFrame) => boolean, withinMs = 10_000): Promise<LaneFrame> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const seen = this.frames.map(
          ({ type, payload }) => `${type} ${JSON.stringify(payload).slice(0, 80)}`,
        );
        reject(new Error(`no such frame came, but ${seen.join(', ')}`));
      }, withinMs);
      const check = () => {
        const frame = this.frames.find(predicate);
        if (frame === undefined) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(frame);
      };
      this.#waiting.add(check);
      check();
    });
  }
}
