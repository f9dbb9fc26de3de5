import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./bare-reply.ts', import.meta.url));

/** The server of `bare-reply.ts` as a process. Resolves once it listens. */
export async function startBareServer(port: number): Promise<ChildProcess> {
  const server = spawn(process.execPath, ['--import=tsx', program, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  return server;
}
