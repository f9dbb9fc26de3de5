/** Uploads and downloads of files, and their cost for clients that only sync. */
import { Trend } from 'k6/metrics';
import { addedBytes } from '../profiles.ts';
import { steadily } from '../support/arrivals.ts';
import { api, call, dataOf } from '../support/call.ts';
import { profile } from '../support/environment.ts';
import { optionsOf, summaryOf } from '../support/load-test.ts';
import { tokenOf } from '../support/mix.ts';
import { idleUsers, nextOf } from '../support/users.ts';
import { uuid } from '../support/uuid.ts';

export { setup } from '../support/load-test.ts';
export { idleSync } from '../support/mix.ts';
export { watch } from '../support/watch.ts';

const { perSecond, chunkBytes } = profile;

export const options = optionsOf(
  { idleSync: steadily('idleSync', perSecond), file: steadily('file', perSecond / 50, 5) },
  {
    operations: [
      'idle-sync',
      'valet-token',
      'open-upload',
      'upload-chunk',
      'close-upload',
      'download-chunk',
      'delete-file',
    ],
  },
);

const chunks = 2;
const path = '/v1/files';
/** For each VU that deals with files, on first use. */
const cache: { chunk?: ArrayBuffer } = {};
const uploaded = new Trend('file_upload', true);
const downloaded = new Trend('file_download', true);

/** One file: uploaded, downloaded and deleted, so that quotas do not fill. */
export function file(): void {
  const token = tokenOf(nextOf(idleUsers).accessTokens);
  const remoteIdentifier = uuid();
  const beganMs = Date.now();
  if (!upload(token, remoteIdentifier)) return;
  uploaded.add(Date.now() - beganMs);
  const uploadedMs = Date.now();
  if (download(token, remoteIdentifier)) downloaded.add(Date.now() - uploadedMs);
  const deletion = valetToken(token, remoteIdentifier, 'delete');
  if (deletion === undefined) return;
  call(
    { operation: 'delete-file', method: 'DELETE', path, headers: { 'x-valet-token': deletion } },
    () => true,
  );
}

function upload(token: string, remoteIdentifier: string): boolean {
  const valet = valetToken(token, remoteIdentifier, 'write');
  if (valet === undefined) return false;
  const headers = { 'x-valet-token': valet };
  cache.chunk ??= new Uint8Array(chunkBytes).buffer;
  const { chunk } = cache;
  if (!call({ operation: 'open-upload', path: `${path}/upload/create-session`, headers }, () => true))
    return false;
  for (let number = 1; number <= chunks; number += 1) {
    const stored = call(
      {
        operation: 'upload-chunk',
        path: `${path}/upload/chunk`,
        headers: { ...headers, 'x-chunk-id': String(number) },
        body: chunk,
      },
      () => true,
    );
    if (!stored) return false;
  }
  return (
    call({ operation: 'close-upload', path: `${path}/upload/close-session`, headers }, () => true) ?? false
  );
}

function download(token: string, remoteIdentifier: string): boolean {
  const valet = valetToken(token, remoteIdentifier, 'read');
  if (valet === undefined) return false;
  for (let number = 0; number < chunks; number += 1) {
    const fetched = call(
      {
        operation: 'download-chunk',
        method: 'GET',
        path,
        headers: {
          'x-valet-token': valet,
          'x-chunk-size': String(chunkBytes),
          range: `bytes=${number * chunkBytes}-`,
        },
        isBodyDropped: true,
        status: 206,
      },
      (reply) => Number(reply.headers['Content-Length']) === chunkBytes || undefined,
    );
    if (!fetched) return false;
  }
  return true;
}

function valetToken(
  token: string,
  remoteIdentifier: string,
  operation: 'write' | 'read' | 'delete',
): string | undefined {
  const unencryptedFileSize = operation === 'write' ? chunks * (chunkBytes - addedBytes) : undefined;
  const body = { api, operation, resources: [{ remoteIdentifier, unencryptedFileSize }] };
  return call(
    { operation: 'valet-token', path: `${path}/valet-tokens`, token, body },
    (reply) => dataOf<{ valetToken: string }>(reply)?.valetToken,
  );
}

export const handleSummary = summaryOf('files');
