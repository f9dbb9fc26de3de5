import { freePorts } from '../kit/free-ports.ts';
import { type RunningServer, startServer } from '../kit/started-server.ts';
import { launchChromium } from './chromium.ts';
import { Device } from './device.ts';
import { type Loss, type Origin, openOrigin } from './origin.ts';

export interface DeviceStyle {
  /**
   * `same`: page and server behind one address. `other`: a page that calls the server across origins, by another port
   * of localhost. `foreign`: the page is even of another site, for which browsers send fewer cookies.
   */
  pageOrigin: 'same' | 'other' | 'foreign';
  /** 20240226, the web client's, makes cookie sessions; 20200115 header sessions. */
  apiVersion: '20240226' | '20200115';
}

type Closer = () => Promise<unknown>;

/** A real server on an empty data directory, a browser, and the devices of its users. */
export class World {
  #closers: Closer[] = [];
  #failures: readonly string[] = [];
  #serverUrl = '';
  #dataDirectory = '';
  #crash: RunningServer['crash'] = () => Promise.reject(new Error('Not open.'));
  #sameOrigin: Origin | undefined;
  #open: (name: string, style: DeviceStyle) => Promise<Device> = () => Promise.reject(new Error('Not open.'));

  /** @param settings environment variables of the server */
  static async open(settings: Record<string, string> = {}): Promise<World> {
    const world = new World();
    try {
      await world.#start(settings);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** Another device of a user. */
  device(name: string, style: DeviceStyle): Promise<Device> {
    return this.#open(name, style);
  }

  /** @see Origin.loseNextSave for devices whose page and server share one origin */
  loseNextSave(how: Loss): ReturnType<Origin['loseNextSave']> {
    if (this.#sameOrigin === undefined) throw new Error('Not open.');
    return this.#sameOrigin.loseNextSave(how);
  }

  /** From now on the address of devices whose page and server share one origin leads to another server. */
  leadTo(serverUrl: string): void {
    if (this.#sameOrigin === undefined) throw new Error('Not open.');
    this.#sameOrigin.leadTo(serverUrl);
  }

  /** For requests that no device makes. */
  get serverUrl(): string {
    return this.#serverUrl;
  }

  get dataDirectory(): string {
    return this.#dataDirectory;
  }

  /** The server's log of its own failures. */
  get serverFailures(): readonly string[] {
    return this.#failures;
  }

  /** @see RunningServer.crash */
  crash(meanwhile: (dataDirectory: string) => unknown): Promise<void> {
    return this.#crash(meanwhile);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  async #start(settings: Record<string, string>): Promise<void> {
    const browser = await launchChromium(process.env);
    this.#closers.push(() => browser.close());
    const other = await openOrigin();
    this.#closers.push(() => other.close());
    const securityKeys = { U2F_RELYING_PARTY_ID: 'localhost', U2F_EXPECTED_ORIGIN: other.url };
    const [port = 0] = await freePorts(1);
    const address = { PORT: String(port), PUBLIC_URL: `http://localhost:${port}` };
    const lane = { SYNC_LANE_ORIGINS: other.url };
    const server = await startServer({ ...address, ...securityKeys, ...lane, ...settings });
    this.#closers.push(() => server.stop());
    this.#failures = server.failures;
    this.#serverUrl = server.url;
    this.#dataDirectory = server.dataDirectory;
    this.#crash = server.crash;
    const same = await openOrigin(server.url);
    this.#sameOrigin = same;
    this.#closers.push(() => same.close());
    const urls = {
      same: { pageUrl: same.url, serverUrl: same.url },
      other: { pageUrl: other.url, serverUrl: server.url },
      foreign: { pageUrl: other.url.replace('localhost', '127.0.0.1'), serverUrl: server.url },
    };
    this.#open = (name, { pageOrigin, apiVersion }) =>
      Device.open({ browser, ...urls[pageOrigin], apiVersion, name });
  }
}
