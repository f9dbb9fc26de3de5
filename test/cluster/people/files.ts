/**
 * People's actions with files: they upload them in chunks, read them in parts, move and delete them, both their own
 * and those of vaults.
 */
import { createHash } from 'node:crypto';
import type { Request } from '../client.ts';
import type { Person, RequestResult, Send } from './person.ts';
import type { KnownFile } from './shared-facts.ts';

type Operation = 'read' | 'write' | 'delete' | 'move';

export interface HeldFile {
  readonly person: Person;
  readonly file: string;
  readonly collection: string;
}

const chunksMax = 4;
const bytesMax = 40_000;
/** If an attempt redeemed a token and its answer was lost, the person asks for a new one. */
const triesMax = 4;

function contentOf(file: string, bytes: number): Buffer {
  return createHash('shake256', { outputLength: bytes }).update(file).digest();
}

/** Uploads to one owner, sometimes several at once, so that they race for the rest of a quota. */
export async function upload(person: Person): Promise<void> {
  const { random, userUuid, vaults } = person;
  const count = random.chance(0.3) ? 3 : 1;
  const collection = vaults.length > 0 && random.chance(0.6) ? random.pick(vaults).uuid : userUuid;
  const plans = Array.from({ length: count }, () => planOf(person, collection));
  await Promise.all(plans.map((plan) => uploadOne({ person, file: plan.file.uuid, collection }, plan)));
}

interface Plan {
  readonly file: KnownFile;
  /** In the order of sending, each with its number. */
  readonly chunks: readonly (readonly [number, Uint8Array])[];
}

function planOf({ random, facts }: Person, collection: string): Plan {
  const file = {
    uuid: random.uuid(),
    bytes: 500 + random.below(bytesMax),
    collections: new Set([collection]),
    isErased: false,
  };
  facts.files.push(file);
  const content = contentOf(file.uuid, file.bytes);
  const length = Math.ceil(file.bytes / (1 + random.below(chunksMax)));
  const chunks: [number, Uint8Array][] = [];
  for (let start = 0; start < file.bytes; start += length) {
    chunks.push([chunks.length + 1, content.subarray(start, start + length)]);
  }
  return { file, chunks: random.chance(0.5) ? chunks : chunks.reverse() };
}

async function uploadOne(held: HeldFile, { file, chunks }: Plan): Promise<void> {
  const { person, collection } = held;
  const { bytes } = file;
  const { status } = await person.perform(
    { does: 'upload', file: file.uuid, collection, bytes },
    async (send) => {
      const [token, refusal] = await askForToken(held, send, 'write', { bytes });
      if (token === undefined) return refusal;
      const opened = await send({ ...createSession(held, token), takesTooMany: true });
      if (opened.status !== 200) return opened;
      for (const [number, body] of chunks) {
        const call = fileCall(held, token, 'POST', '/upload/chunk', { 'x-chunk-id': String(number) });
        const sent = await send({ ...call, body });
        if (sent.status !== 200) return sent;
      }
      return send(fileCall(held, token, 'POST', '/upload/close-session'));
    },
  );
  if (status !== 200) await abandonUpload(held);
}

/**
 * Frees the reservation of a refused upload by replacing it with an empty one. That one stays open for hours, so a
 * person with several of them in one owner's vaults may open no more there.
 */
async function abandonUpload(held: HeldFile): Promise<void> {
  const { client } = held.person;
  const send: Send = (request) => client.call(request);
  const [token] = await askForToken(held, send, 'write', { bytes: 1 });
  if (token !== undefined) await send({ ...createSession(held, token), takesTooMany: true });
}

const createSession = (held: HeldFile, token: string): Request =>
  fileCall(held, token, 'POST', '/upload/create-session');

/** Sometimes whole, and sometimes in parts, the last of which is not always requested. */
export async function read(person: Person): Promise<void> {
  const held = chooseFile(person);
  if (held === undefined) return;
  const { file, collection, bytes } = held;
  const parts = person.random.below(3);
  await person.perform({ does: 'read', file, collection }, (send) =>
    again(send, (once) => readFile(held, once, { bytes, parts })),
  );
}

export interface Reading {
  readonly bytes: number;
  /** How many ranges it is read in; 0: one from the middle. */
  readonly parts: number;
}

export async function readFile(
  held: HeldFile,
  send: Send,
  { bytes, parts }: Reading,
): Promise<RequestResult> {
  const [token, refusal] = await askForToken(held, send, 'read', {});
  if (token === undefined) return refusal;
  const content = contentOf(held.file, bytes);
  const length = parts === 0 ? Math.ceil(bytes / 3) : Math.ceil(bytes / parts);
  for (let start = parts === 0 ? length : 0; start < bytes; start += length) {
    const end = Math.min(start + length, bytes);
    const headers = { range: `bytes=${start}-`, 'x-chunk-size': String(end - start) };
    const { status, bytes: received } = await send(fileCall(held, token, 'GET', '', headers));
    if (status !== 206) return { status };
    if (!received.equals(content.subarray(start, end))) return { status: 200, whole: false };
    if (parts === 0) break;
  }
  return { status: 200, whole: true };
}

export async function erase(person: Person): Promise<void> {
  const held = chooseFile(person);
  if (held === undefined) return;
  const { file, collection, known } = held;
  const { status } = await person.perform({ does: 'erase', file, collection }, (send) =>
    again(send, async (once) => {
      const [token, refusal] = await askForToken(held, once, 'delete', {});
      return token === undefined ? refusal : once(fileCall(held, token, 'DELETE', ''));
    }),
  );
  if (status === 200) known.isErased = true;
}

export async function move(person: Person): Promise<void> {
  const { random, userUuid, vaults } = person;
  const from = chooseFile(person);
  if (from === undefined || vaults.length === 0) return;
  const isOwn = from.collection === userUuid;
  const targets = vaults.map(({ uuid }) => uuid).filter((uuid) => uuid !== from.collection);
  const to = isOwn || (targets.length > 0 && random.chance(0.6)) ? random.pick(targets) : userUuid;
  // The token's vault is the target for files from an account.
  const held = isOwn ? { ...from, collection: to } : from;
  const type = isOwn
    ? 'user-to-shared-vault'
    : to === userUuid
      ? 'shared-vault-to-user'
      : 'shared-vault-to-shared-vault';
  from.known.collections.add(to);
  await person.perform({ does: 'move', file: from.file, collection: from.collection, to }, (send) =>
    again(send, async (once) => {
      const [token, refusal] = await askForToken(held, once, 'move', { type, target: to });
      return token === undefined ? refusal : once(fileCall(held, token, 'POST', '/move'));
    }),
  );
}

/** A file from the book, and one of its possible places: the person may not always be allowed to read there. */
function chooseFile(
  person: Person,
): (HeldFile & { readonly bytes: number; readonly known: KnownFile }) | undefined {
  const { facts, random, userUuid, vaults } = person;
  if (facts.files.length === 0) return undefined;
  const isNear = ({ collections, isErased }: KnownFile) =>
    !isErased && (collections.has(userUuid) || vaults.some(({ uuid }) => collections.has(uuid)));
  const near = facts.files.filter(isNear);
  const known = random.pick(near.length > 0 && random.chance(0.85) ? near : facts.files);
  const collections = [...known.collections].filter(
    (collection) => collection === userUuid || !facts.users.has(collection),
  );
  if (collections.length === 0) return undefined;
  return { person, file: known.uuid, collection: random.pick(collections), bytes: known.bytes, known };
}

async function again(send: Send, once: (send: Send) => Promise<RequestResult>): Promise<RequestResult> {
  let outcome = await once(send);
  for (let tries = 1; tries < triesMax && outcome.status === 403; tries += 1) outcome = await once(send);
  return outcome;
}

interface WantedToken {
  readonly bytes?: number;
  readonly type?: string;
  readonly target?: string;
}

async function askForToken(
  { person, file, collection }: HeldFile,
  send: Send,
  operation: Operation,
  { bytes, type, target }: WantedToken,
): Promise<readonly [token: string | undefined, refusal: RequestResult]> {
  const own = {
    path: '/v1/files/valet-tokens',
    body: { operation, resources: [{ remoteIdentifier: file, unencryptedFileSize: bytes }] },
  };
  const ofVault = {
    path: `/v1/shared-vaults/${collection}/valet-tokens`,
    body: {
      remote_identifier: file,
      operation,
      unencrypted_file_size: bytes,
      move_operation_type: type,
      shared_vault_to_shared_vault_move_target_uuid: target,
    },
  };
  const actor = collection === person.userUuid ? own : ofVault;
  const { status, body } = await send({ method: 'POST', token: person.token, ...actor });
  return [(body as { valetToken?: string } | undefined)?.valetToken, { status }];
}

function fileCall(
  { person, collection }: HeldFile,
  token: string,
  method: Request['method'],
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Request {
  const base = collection === person.userUuid ? '/v1/files' : '/v1/shared-vault/files';
  return { method, path: base + path, headers: { 'x-valet-token': token, ...headers } };
}

/** The size of their files, according to the server. */
export async function countedBytes(person: Person): Promise<number> {
  const path = `/v1/users/${person.userUuid}/subscription-settings/FILE_UPLOAD_BYTES_USED`;
  const found = await person.get<{ setting: { value: string | null } }>(path);
  return Number(found?.setting.value ?? 0);
}

export async function count(person: Person): Promise<void> {
  const { history, userUuid: user, limitBytes } = person;
  history.add({ event: 'counted', user, bytes: await countedBytes(person), limitBytes });
}
