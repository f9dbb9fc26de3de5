/** LiteLLM’s proxy on a free port, with a configuration of its own. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOrMakeLitellm } from '../../tools/litellm.ts';
import { endWithTests } from './child.ts';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

/** It loads a great many modules. */
const startLimitMs = 180_000;
/** Its own script names the folder of its installation. */
const start = 'from litellm import run_server; run_server()';

export interface Litellm {
  /** The address of its interface, which is OpenAI’s. */
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** @param config the content of its `config.yaml` */
export async function startLitellm(config: object): Promise<Litellm> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-litellm-'));
  const [port = 0] = await freePorts(1);
  const file = join(folder, 'config.yaml');
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify(config));
  const args = ['--config', file, '--host', '127.0.0.1', '--port', `${port}`];
  const child = spawn(findOrMakeLitellm(process.env), ['-c', start, ...args], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      // It fetches no prices, and reports to nobody.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_TELEMETRY: 'False',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = endWithTests(child);
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-20_000);
    });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/health/liveliness`).then(
      ({ ok }) => ok,
      () => child.exitCode !== null,
    );
  await until(isReady, startLimitMs);
  if (child.exitCode !== null) throw new Error(`LiteLLM ended:\n${said}`);
  return {
    baseUrl: `${url}/v1`,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
