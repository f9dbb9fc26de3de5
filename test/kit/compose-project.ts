/** `compose.yaml` as the library of Compose reads it, with the image that its server runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readComposeProject } from '../../tools/compose/compose.ts';
import { root } from './server-process.ts';

interface ComposeService {
  readonly image: string;
  /** With what a file `.env` adds to it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly secrets?: readonly { readonly source: string }[];
  readonly ports?: readonly { readonly host_ip: string }[];
}

export interface ComposeProject {
  readonly services: Readonly<Record<'server' | 'postgres' | 'nats', ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export const containerfile = readFileSync(join(root, 'Containerfile'), 'utf8');

/** The image's own settings. */
const environmentOfImage: Readonly<Record<string, string>> = Object.fromEntries(
  [...containerfile.matchAll(/^ENV (.+)$/gm)]
    .flatMap(([, pairs = '']) => pairs.split(' '))
    .map((pair) => pair.split('=') as [string, string]),
);

/** That of a folder. @throws Error if Compose would refuse it */
export const composeProject = (folder: string): ComposeProject =>
  readComposeProject(folder) as ComposeProject;

/** What the server of a container gets. */
export const serverEnvironment = ({ services }: ComposeProject): Readonly<Record<string, string>> => ({
  ...environmentOfImage,
  ...services.server.environment,
});

/** The content of a secret, by the path that a container sees it under. */
export const secretAt = ({ secrets }: ComposeProject, path: string): string =>
  readFileSync(secrets[path.replace('/run/secrets/', '')]?.file ?? path, 'utf8');
