/**
 * The files of the other server: `<owner>/<name>`, two uuids, in a folder or a bucket. Anything else there is not a user's
 * file.
 */
import { createReadStream, type Dir } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailure, exitCodes } from '../../failure.ts';

export interface SourceFile {
  readonly ownerUuid: string;
  readonly name: string;
  readonly bytes: number;
}

export interface SourceFiles {
  list(): AsyncIterable<SourceFile>;
  read(file: SourceFile): Promise<AsyncIterable<Uint8Array>>;
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws CommandFailure */
export async function openSourceFiles(location: string): Promise<SourceFiles> {
  if (location.startsWith('s3://')) return openBucket(new URL(location));
  const found = await stat(location).catch(() => undefined);
  if (!found?.isDirectory()) throw new CommandFailure(exitCodes.usage, `There is no folder ${location}.`);
  return openFolder(location);
}

function openFolder(root: string): SourceFiles {
  return {
    async *list() {
      for await (const owner of await folderOf(root)) {
        if (!owner.isDirectory() || !uuidForm.test(owner.name)) continue;
        for await (const file of await folderOf(join(root, owner.name))) {
          if (!file.isFile() || !uuidForm.test(file.name)) continue;
          const { size } = await stat(join(root, owner.name, file.name));
          yield { ownerUuid: owner.name, name: file.name, bytes: size };
        }
      }
    },
    read: async ({ ownerUuid, name }) => createReadStream(join(root, ownerUuid, name)),
  };
}

/** @throws CommandFailure */
async function folderOf(path: string): Promise<Dir> {
  try {
    return await opendir(path);
  } catch (error) {
    const { message } = error as Error;
    throw new CommandFailure(
      exitCodes.refused,
      `${path} cannot be read (${message}). It may belong to another user.`,
    );
  }
}

/** The SDK of S3 finds the credentials: in the environment, or in the file of a profile. */
async function openBucket(url: URL): Promise<SourceFiles> {
  const { GetObjectCommand, ListObjectsV2Command, S3Client } = await import('@aws-sdk/client-s3');
  const endpoint = url.searchParams.get('endpoint') ?? undefined;
  const client = new S3Client({
    region: url.searchParams.get('region') ?? 'us-east-1',
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
  });
  const Bucket = url.hostname;
  return {
    async *list() {
      for (let token: string | undefined; ; ) {
        const page = await client.send(new ListObjectsV2Command({ Bucket, ContinuationToken: token }));
        for (const { Key = '', Size = 0 } of page.Contents ?? []) {
          const [ownerUuid = '', name = '', ...more] = Key.split('/');
          if (more.length > 0 || !uuidForm.test(ownerUuid) || !uuidForm.test(name)) continue;
          yield { ownerUuid, name, bytes: Size };
        }
        token = page.NextContinuationToken;
        if (token === undefined) return;
      }
    },
    async read({ ownerUuid, name }) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: `${ownerUuid}/${name}` }));
      if (Body === undefined) throw new CommandFailure(exitCodes.unavailable, `${Bucket} gave no body.`);
      return Body as unknown as AsyncIterable<Uint8Array>;
    },
  };
}
