/**
 * Loads the native HTTP server for this Node.js and this system. It chooses among the installed packages, and refuses
 * any binary but the one that was tested with this release. `npm ci` checks packages as they arrive; this guards
 * against later changes.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type NativePackage, nativePackages } from './native-binaries.ts';

export type NativeLibrary = typeof import('uWebSockets.js') & {
  DISABLED: 0;
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(option: string): void;
};

/** Why there is no library here, in sentences for the operator who starts the server. */
export class NativeHttpError extends Error {}

/** The system to run on. */
export interface Runtime {
  readonly platform: string;
  readonly arch: string;
  readonly version: string;
  readonly versions: { readonly modules: string };
}

export interface Loading {
  readonly runtime: Runtime;
  /** The folder of a package's binaries. */
  readonly folderOf: (of: NativePackage) => URL;
  readonly open: (path: string) => unknown;
  /** Undefined: the system uses another C library. */
  readonly glibcVersion: () => string | undefined;
}

export const installedFolder = ({ name, folder }: NativePackage): URL =>
  new URL(folder, import.meta.resolve(name));

const here: Loading = {
  runtime: process,
  folderOf: installedFolder,
  open: createRequire(import.meta.url),
  glibcVersion: () => {
    const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    return header.glibcVersionRuntime;
  },
};

/** @throws NativeHttpError */
export function loadNativeLibrary(loading = here): NativeLibrary {
  const { of, name, path } = checkedFile(loading);
  try {
    return loading.open(path) as NativeLibrary;
  } catch (error) {
    throw new NativeHttpError(
      `The native HTTP server ${name} cannot be loaded here: ${whyNot(of, error as Error, loading)}`,
      { cause: error },
    );
  }
}

/** The file that is loaded here. The build of the image removes the others (`Containerfile`). @throws NativeHttpError */
export const nativePath = (loading = here): string => checkedFile(loading).path;

function checkedFile(loading: Loading) {
  const { of, name } = chosenFor(loading.runtime);
  return { of, name, path: checked(of, name, loading) };
}

function chosenFor({ platform, arch, version, versions }: Runtime) {
  const name = `uws_${platform}_${arch}_${versions.modules}.node`;
  const of = nativePackages.find(({ sha256 }) => sha256[name] !== undefined);
  if (of !== undefined) return { of, name };
  throw new NativeHttpError(
    `There is no native HTTP server for Node.js ${version.slice(1)} on ${platform} ${arch}. ${whatThereIs()}`,
  );
}

function checked(of: NativePackage, name: string, { folderOf }: Loading): string {
  const path = pathOf(of, name, folderOf);
  const bytes = path === undefined ? undefined : bytesOf(path);
  if (path === undefined || bytes === undefined)
    throw new NativeHttpError(`The native HTTP server ${name} is not installed. Run \`npm ci\`.`);
  if (createHash('sha256').update(bytes).digest('hex') === of.sha256[name]) return path;
  throw new NativeHttpError(
    `The native HTTP server ${name} is not the one that this release was tested with, and was not loaded. Find out what changed it, then run \`npm ci\`.`,
  );
}

/** Undefined: the package is not installed. */
function pathOf(of: NativePackage, name: string, folderOf: Loading['folderOf']): string | undefined {
  try {
    return fileURLToPath(new URL(name, folderOf(of)));
  } catch {
    return undefined;
  }
}

function bytesOf(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function whyNot({ glibcMin }: NativePackage, error: Error, { runtime, glibcVersion }: Loading): string {
  const message = error.message.split('\n', 1)[0];
  if (runtime.platform !== 'linux') return `${message}.`;
  const glibc = glibcVersion();
  if (glibc === undefined)
    return 'it needs a Linux with glibc, as Debian and Ubuntu are, and this one has another C library (Alpine has musl).';
  if (isBelow(glibc, glibcMin))
    return `for Node.js ${runtime.version.slice(1)} it needs glibc ${glibcMin} or later${hints[glibcMin] ?? ''}; this system has ${glibc}.`;
  return `${message}.`;
}

/** Keyed by the version that it needs. */
const hints: Readonly<Record<string, string>> = {
  '2.38': ', as Debian 13 and Ubuntu 24.04 have (Node.js 20 and 22 do with an older one)',
};

function isBelow(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** One sentence that says which builds of the library exist. */
export function whatThereIs(): string {
  const names = nativePackages.flatMap(({ sha256 }) => Object.keys(sha256));
  const systems = new Set(
    names
      .map((name) => /^uws_(\w+)_(\w+)_\d+\.node$/.exec(name) ?? [])
      .map(([, platform, arch]) => `${platform} ${arch}`),
  );
  const versions = nativePackages.flatMap(({ nodeVersions }) => Object.values(nodeVersions));
  const list = `${versions.slice(0, -1).join(', ')} and ${versions.at(-1)}`;
  return `This release has one for Node.js ${list} on ${[...systems].join(', ')}.`;
}
