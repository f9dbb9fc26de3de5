/** Two parts of Docker's Compose: its reader of `compose.yaml`, and its reference. No package of Debian 12 has a recent Compose. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runGo } from '../go-program.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** A program of ours around the library with which Compose reads `compose.yaml`. */
const reader = fileURLToPath(new URL('../../.cache/compose-go-v2.16.2/compose', import.meta.url));

/** On first use on a machine this fetches and compiles it. @throws Error, one line */
export function buildComposeReader(): void {
  if (existsSync(reader)) return;
  runGo('the reader of compose.yaml', ['build', '-o', reader, '.'], { cwd: folder });
}

/** The project of a folder, with the file `.env` there. @throws Error if Compose would refuse it */
export function readComposeProject(projectFolder: string): unknown {
  const options = { cwd: projectFolder, env: { PATH: process.env['PATH'] }, encoding: 'utf8' } as const;
  return JSON.parse(execFileSync(reader, options));
}

const compose = 'github.com/docker/compose/v2@v2.40.3';

/** The folder with the reference of its command line, one file for each command. It is fetched if Go does not have it yet. */
export function composeReference(): string {
  const answer = execFileSync('go', ['mod', 'download', '-json', compose], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const { Dir: module } = JSON.parse(answer) as { readonly Dir: string };
  return join(module, 'docs', 'reference');
}
