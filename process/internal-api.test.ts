import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { InternalApiOptions } from '../operations/internal-api-options.ts';
import { temporaryFolder } from '../test/kit/temporary-folder.ts';
import { configurationFrom } from './config/config.ts';
import { openInternalApi } from './internal-api.ts';
import type { Resources } from './resources.ts';
import type { ServerOptions } from './server-options.ts';
import { StartError, serverExitCodes } from './start-error.ts';

/** The error at a start with these settings. Nothing is opened before the certificates are read. */
async function refusal(t: ExecutionContext, settings: Readonly<Record<string, string>>): Promise<string> {
  const { config } = configurationFrom(settings);
  const opening = openInternalApi({ config } as ServerOptions, {} as Resources, {} as InternalApiOptions);
  const error = await t.throwsAsync(opening, { instanceOf: StartError });
  t.is(error?.exitCode, serverExitCodes.config);
  return error?.message ?? '';
}

async function fileOf(t: ExecutionContext, text: string): Promise<string> {
  const folder = temporaryFolder(t);
  const path = join(folder, 'file.pem');
  await writeFile(path, text);
  return path;
}

test('a missing certificate refuses the start and names its setting', async (t) => {
  const message = await refusal(t, { GRPC_CERT_FILE: '/nowhere.pem', GRPC_KEY_FILE: '/nowhere.key' });
  t.regex(message, /\/nowhere\.pem .*GRPC_CERT_FILE.*ENOENT/);
});

test('files that are not a certificate and its key refuse the start', async (t) => {
  const path = await fileOf(t, 'not a certificate');
  t.regex(await refusal(t, { GRPC_CERT_FILE: path, GRPC_KEY_FILE: path }), /GRPC_CERT_FILE.*do not fit/);
});
