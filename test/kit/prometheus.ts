/** A separate Prometheus for a test, which scrapes its targets every second. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import yaml from 'js-yaml';
import { findProgram } from '../../tools/program.ts';
import { prometheus } from '../../tools/programs.ts';
import { endWithTests } from './child.ts';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

export interface TestPrometheus {
  /** The samples that a query gives now. @throws Error with Prometheus's message if it refuses the query */
  ask(query: string): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

/** Resolves once it answers. The targets are the addresses of `/metrics`. */
export async function startPrometheus(targets: readonly string[]): Promise<TestPrometheus> {
  const [port = 0] = await freePorts(1);
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-prometheus-'));
  const configuration = join(folder, 'prometheus.yml');
  const hosts = targets.map((target) => new URL(target).host);
  await writeFile(
    configuration,
    yaml.safeDump({
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'scriptorium', static_configs: [{ targets: hosts }] }],
    }),
  );
  const child = spawn(
    findProgram(prometheus, process.env),
    [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = endWithTests(child);
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true);
  return {
    async ask(query) {
      const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`);
      const answer = (await response.json()) as {
        readonly error?: string;
        readonly data?: { readonly result: readonly Sample[] };
      };
      if (answer.data === undefined) throw new Error(`${answer.error}: ${query}`);
      return answer.data.result;
    },
    async stop() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
