/** Files of a server composed by its entry: ciphertext in its folder, and nothing else. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { startConfiguredServer } from '../../kit/configured-server.ts';
import { Device } from '../../kit/device.ts';
import { ciphertext, RemoteFile } from '../../kit/files.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';

test('a file is in the folder of the settings as it was sent, and outlives a restart', async (t) => {
  const folder = temporaryFolder(t);
  const environment = { FILES_FOLDER: folder };
  const server = await startConfiguredServer(t, environment);
  const device = await Device.register(server);
  const chunk = ciphertext(100_000);
  const { remoteIdentifier } = await uploaded(new RemoteFile(device), chunk);
  const blobs = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  t.is(blobs.length, 1);
  t.deepEqual(readFileSync(join(blobs[0]?.parentPath ?? '', blobs[0]?.name ?? '')), chunk);
  const again = await server.restart(environment);
  const same = new RemoteFile(new Device(again, device.account), remoteIdentifier);
  t.deepEqual(await same.download(100_000), chunk);
});

async function uploaded(file: RemoteFile, chunk: Buffer): Promise<RemoteFile> {
  await file.upload(chunk);
  return file;
}
