/** The built server as `npm start` runs it, on a scratch data directory. It ends with the code that started it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, startServerProcess } from '../../test/kit/server-process.ts';
import { type Build, builtEntry } from './build.ts';

export interface LoadServer {
  readonly url: string;
  readonly metricsUrl: string;
  readonly pid: number;
  /** The folder of its database and files. */
  readonly dataDirectory: string;
  stop(): Promise<void>;
  /** Ends it like `kill -9` and starts it again on its data, with these settings in addition. */
  restart(settings?: Readonly<Record<string, string>>): Promise<LoadServer>;
}

const here: Omit<Build, 'name'> = { folder: root, nodeArguments: [], entry: builtEntry };
const usual = { LOG_LEVEL: 'warn', E2E_TESTING: 'true' };

const quietMs = 2_000;

/** Resolves once no tell was delivered for a moment: each new member of a vault is announced to all. */
export async function tellsDelivered({ metricsUrl }: LoadServer): Promise<void> {
  let before = Number.NaN;
  for (;;) {
    const metrics = await (await fetch(new URL('/metrics', metricsUrl))).text();
    const delivered = Number(
      /^scriptorium_deliveries_total\{what="tell",outcome="done"\} (\d+)/m.exec(metrics)?.[1],
    );
    if (delivered === before) return;
    before = delivered;
    await new Promise((resolve) => setTimeout(resolve, quietMs));
  }
}

/**
 * `more`: additional settings. `before`: the data of a server that has ended. `build`: another one than that of this
 * tree.
 */
export async function startBuiltServer(
  more: Readonly<Record<string, string>> = {},
  before?: string,
  build = here,
): Promise<LoadServer> {
  const dataDirectory = before ?? (await mkdtemp(join(tmpdir(), 'scriptorium-load-')));
  const settings = { ...usual, ...more };
  const { child, exitCode, ready } = startServerProcess({
    entry: [...build.nodeArguments, build.entry],
    cwd: build.folder,
    dataDirectory,
    settings,
  });
  const { url, metricsUrl } = await ready();
  return {
    url,
    metricsUrl,
    pid: child.pid ?? 0,
    dataDirectory,
    async stop() {
      child.kill('SIGTERM');
      await exitCode;
      await rm(dataDirectory, { recursive: true, force: true });
    },
    async restart(settings = {}) {
      child.kill('SIGKILL');
      await exitCode;
      return startBuiltServer({ ...more, ...settings }, dataDirectory, build);
    },
  };
}
