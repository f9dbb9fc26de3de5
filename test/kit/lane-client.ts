/**
 * A client of the sync lane (docs/protocol/sockets.md, "The sync lane"), over any socket that can be sent texts. It needs nothing
 * but the language and WebCrypto.
 */

export interface LaneTransport {
  send(text: string): void;
}

export interface LaneFrame {
  readonly version: number;
  readonly channel: string;
  readonly type: string;
  readonly requestId: string;
  readonly commandId: string;
  readonly sequence: number;
  readonly payloadLength: number;
  // biome-ignore lint/suspicious/noExplicitAny: of any type of frame
  readonly payload: any;
  readonly digest?: string;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields)
    .filter((name) => fields[name] !== undefined)
    .sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(fields[name])}`).join(',')}}`;
}

export async function digestOf(body: object): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytesOf(canonical(body)));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export class LaneClient {
  readonly frames: LaneFrame[] = [];
  readonly #transport: LaneTransport;
  readonly #waiting = new Set<() => void>();
  #sequence = 0;
  #requests = 0;

  constructor(transport: LaneTransport) {
    this.#transport = transport;
  }

  /** To be called with every text that comes. */
  received(text: string): void {
    const frame = JSON.parse(text) as LaneFrame;
    if (bytesOf(JSON.stringify(frame.payload)).length !== frame.payloadLength) {
      throw new Error(`the payload of ${frame.type} has not the length that it says`);
    }
    this.frames.push(frame);
    for (const check of [...this.#waiting]) check();
  }

  /** A frame as given, with what else a frame has. */
  send(type: string, payload: object, more: Partial<LaneFrame> = {}): LaneFrame {
    this.#requests += 1;
    const id = `request-${this.#requests}`;
    const frame = {
      ...{ version: 1, channel: 'sync', type, requestId: id, commandId: id, sequence: this.#sequence },
      ...{ payloadLength: bytesOf(JSON.stringify(payload)).length, payload },
      ...more,
    };
    this.#sequence += 1;
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

  next(wanted: (frame: LaneFrame) => boolean, withinMs = 10_000): Promise<LaneFrame> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const seen = this.frames.map(
          ({ type, payload }) => `${type} ${JSON.stringify(payload).slice(0, 80)}`,
        );
        reject(new Error(`no such frame came, but ${seen.join(', ')}`));
      }, withinMs);
      const check = () => {
        const frame = this.frames.find(wanted);
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
