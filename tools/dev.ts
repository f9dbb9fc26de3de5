/**
 * `npm run dev`: the server from its sources, restarted whenever one of them changes, with its log in readable lines.
 * Arguments after `--` go to Node.js: `npm run dev -- --inspect` opens the inspector.
 */
import { spawn } from 'node:child_process';
import pretty from 'pino-pretty';

const options = [...process.argv.slice(2), '--watch', '--import=tsx'];
const server = spawn(process.execPath, [...options, 'main.ts'], { stdio: ['inherit', 'inherit', 'pipe'] });
server.stderr.pipe(pretty({ destination: 2, ignore: 'node', translateTime: 'SYS:HH:MM:ss.l' }));

// A terminal sends Ctrl-C to both processes. This one stays until the server has written its last lines.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => server.kill('SIGTERM'));
server.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
