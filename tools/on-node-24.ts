/**
 * `npm run test:node24`: tests on Node.js 24 and Debian 13, which use the other native HTTP server. Without arguments
 * it runs those of the gateway, of sockets, and the attacks; otherwise the arguments go to AVA.
 */
import { spawnSync } from 'node:child_process';
import { findOrMakeDebian, inside } from './debian.ts';

const usual = ['gateway/**/*.test.ts', 'test/behaviour/sockets/*.test.ts', 'test/attacks/*.test.ts'];

const names = process.argv.slice(2);
const ava = ['node', 'node_modules/ava/entrypoints/cli.mjs', ...(names.length > 0 ? names : usual)];
const { file, args, env } = inside(findOrMakeDebian(process.env), ava);
const { status, error } = spawnSync(file, args, { env, stdio: 'inherit' });
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
