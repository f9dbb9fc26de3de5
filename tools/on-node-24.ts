/**
 * `npm run test:node24`: tests on Node.js 24 and Debian 13, by which its other native HTTP server is tried. Without
 * arguments those of the gateway, of sockets, and the attacks; else what AVA is to run.
 */
import { spawnSync } from 'node:child_process';
import { findOrMakeDebian, inside } from './debian.ts';

const usual = ['gateway/**/*.test.ts', 'test/behaviour/sockets/*.test.ts', 'test/attacks/*.test.ts'];

const given = process.argv.slice(2);
const ava = ['node', 'node_modules/ava/entrypoints/cli.mjs', ...(given.length > 0 ? given : usual)];
const { file, args, env } = inside(findOrMakeDebian(process.env), ava);
const { status, error } = spawnSync(file, args, { env, stdio: 'inherit' });
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
