/**
 * Files (docs/protocol/files.md). A signed-in user gets tokens. A valet token alone moves the bytes, below
 * `/v1/files` and, for clients that know the files server as `<server>/files`, also below `/files/v1/files`. The
 * files of shared vaults are below `/v1/shared-vault/files`.
 *
 * A chunk passes through on its way between client and store. The gateway keeps nothing of it, and a slow side holds
 * back the other.
 */
import { z } from 'zod';
import {
  type Blob,
  type BlobLayout,
  type BlobOrigin,
  blobName,
  chunkBytesMax,
  piecesOf,
} from '../../actors/files/layout.ts';
import { type FileStore, FileStoreError } from '../../actors/files/store.ts';
import type { ValetClaims } from '../../actors/identity/valet-tokens.ts';
import { type Answer, isRefused } from '../../actors/reply.ts';
import { Files } from '../../actors/user/files/contract.ts';
import { type Actors, type Ask, unlessAbsent } from '../../runtime/handles.ts';
import { Downloads } from '../admission/downloads.ts';
import type { RateBucket } from '../admission/rate-limit.ts';
import { type InclusiveRange, parseRange, rangedReply } from '../http/ranges.ts';
import type { RouteRefusal } from '../http/refusal.ts';
import type { AnyRoute, BodyKind, Method, RequestContext, RouteReply } from '../http/route.ts';
import { answeredOr, errorBodySchema, family, refusedAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

const { endpoint } = family({ tag: 'Files' });
const ofBytes = family({ tag: 'Files', enveloped: false });
const nothing = z.object({});
const checkMs = 10_000;
/** The paths where a client looks for the files of its account and of its shared vaults. */
const accountBases = ['/v1/files', '/files/v1/files'];
const vaultBases = ['/v1/shared-vault/files', '/files/v1/shared-vault/files'];
/** All of them need a token. Clients on a fast line send some twenty chunks a second. */
const rate: RateBucket = { name: 'file requests', perMinute: 6_000, by: 'address' };
/** The most bytes of one download. Clients ask for a chunk at a time. */
const replyBytesMax = 100_000_000;
const bytesType = 'application/octet-stream';
const doneSchema = z.object({ success: z.boolean(), message: z.string() });

const invalidToken = {
  status: 403,
  tag: 'invalid-auth',
  message: 'This valet token is not valid any more.',
} satisfies RouteRefusal;
const withoutRange: RouteRefusal = { status: 400, message: 'The range of the request is missing.' };
const notChunkId: RouteRefusal = {
  status: 400,
  message: 'The number of the chunk is missing, or not a number.',
};
const notChunkSize: RouteRefusal = { status: 400, message: 'The size of the chunk is not a number.' };
const emptyChunk: RouteRefusal = { status: 400, message: 'The chunk is empty.' };
const withoutLength: RouteRefusal = { status: 411, message: 'The length of the chunk is missing.' };

/** The questions to the owner of a file. */
type FileOwnerRoutes = Pick<
  Ask<typeof Files.commands>,
  | 'openUpload'
  | 'beginChunk'
  | 'finishChunk'
  | 'abandonChunk'
  | 'closeUpload'
  | 'deleteFile'
  | 'openFile'
  | 'checkToken'
  | 'spendOnRead'
  | 'moveFile'
>;

const ownerOf = (actors: Actors, { userUuid }: ValetClaims): FileOwnerRoutes =>
  actors.get(Files, userUuid).ask;

/** A request with a token that this server made and that has not expired. */
interface TokenRequest<B extends BodyKind> {
  readonly context: RequestContext<'public', B>;
  readonly claims: ValetClaims;
  readonly owner: FileOwnerRoutes;
}

const done = (message: string) => (): RouteReply => ({ status: 200, body: { success: true, message } });

/** If the account is gone, the refusal is that of a revoked token. */
const answer = <Ok>(answered: Promise<Answer<Ok>>, replyOf: (ok: Ok) => RouteReply): Promise<RouteReply> =>
  answeredOr(invalidToken, answered, replyOf);

export function fileRoutes(options: RoutesOptions): readonly AnyRoute[] {
  const downloads = new Downloads();
  return [
    valetTokenRoute,
    vaultValetTokenRoute,
    ...accountBases.flatMap((base) => byteRoutes(base, 'account', options, downloads)),
    ...vaultBases.flatMap((base) => byteRoutes(base, 'vault', options, downloads)),
  ];
}

const valetTokenRoute = endpoint('POST /v1/files/valet-tokens', {
  command: Files.commands.mintValetToken,
  summary: 'A token with which the client may write, read or delete one file.',
  replies: { 200: Files.commands.mintValetToken.ok, 403: z.looseObject({}) },
  replyOf: (body) => ({ status: body.success ? 200 : 403, body }),
  refusals: [400],
});

const vaultValetTokenRoute = endpoint('POST /v1/shared-vaults/:sharedVaultUuid/valet-tokens', {
  command: Files.commands.mintVaultValetToken,
  summary: 'A token with which the client may write, read, delete or move one file of a shared vault.',
  refusals: [400, 403],
});

function byteRoutes(
  base: string,
  of: 'account' | 'vault',
  { valetTokens, files: { store, clock, random } }: RoutesOptions,
  downloads: Downloads,
): AnyRoute[] {
  interface FileRoute<B extends BodyKind> {
    readonly summary: string;
    readonly ok: AnyRoute['replies'];
    readonly headers?: readonly string[];
    readonly body?: B;
    readonly bodyLimit?: number;
    readonly streamOf?: NonNullable<AnyRoute['streamOf']>;
    readonly handle: (request: TokenRequest<B>) => Promise<RouteReply>;
  }

  /** Undefined: not ours, or ended. */
  const verified = (token: string): ValetClaims | undefined => {
    const claims = valetTokens.verify(token);
    return claims !== undefined && claims.endsMs > clock.nowMs() ? claims : undefined;
  };

  const byToken = <const B extends BodyKind = 'json'>(
    method: Method,
    path: string,
    { ok, headers = [], handle, ...declared }: FileRoute<B>,
  ): AnyRoute =>
    ofBytes.route<'public', object, B>(`${method} ${base}${path}`, {
      ...declared,
      access: 'public',
      request: nothing,
      headers: ['x-valet-token', ...headers],
      replies: ok,
      refusals: [400, 403],
      rate,
      handle: async (context) => {
        const claims = verified(context.header('x-valet-token') ?? '');
        if (claims === undefined) return refusedAnswer(invalidToken);
        if ((claims.sharedVaultUuid !== undefined) !== (of === 'vault')) return refusedAnswer(invalidToken);
        return handle({ context, claims, owner: ownerOf(context.actors, claims) });
      },
    });

  async function storeChunk({ context, claims, owner }: TokenRequest<'stream'>): Promise<RouteReply> {
    const number = wholeNumberIn(context.header('x-chunk-id'));
    if (number === undefined || number === 0) return refusedAnswer(notChunkId);
    const length = context.header('content-length');
    if (length === undefined && context.header('transfer-encoding') !== undefined) {
      return refusedAnswer(withoutLength);
    }
    const bytes = Number(length ?? 0);
    if (bytes === 0) return refusedAnswer(emptyChunk);
    continuesByToken({ context, claims, owner });
    const blob = { number, nonce: random.bytes(8).toString('hex') };
    return writeChunk({ context, claims, owner }, blob, bytes);
  }

  /** The body arrives while the owner records what it will be. If the owner refuses it, the body is discarded. */
  async function writeChunk(
    { context, claims, owner }: TokenRequest<'stream'>,
    blob: Blob,
    bytes: number,
  ): Promise<RouteReply> {
    const begun = begin(owner.beginChunk({ claims, bytes, ...blob }, context.ask));
    const naming = begun.then((origin) => {
      if ('status' in origin) throw new Error('the chunk is refused');
      return blobName(origin, blob);
    });
    // If this fails too, it counts as held for a while, until the sweep removes it.
    const abandon = ({ uploadUuid }: BlobOrigin, storedBytes: number) =>
      owner
        .abandonChunk({ claims, uploadUuid, ...blob, bytes: storedBytes }, context.ask)
        .catch(() => undefined);
    const options = { owner: claims.sharedVaultUuid ?? claims.userUuid, bytes, signal: context.gone };
    const failure = await store.write(naming, context.body, options).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const origin = await begun;
    if ('status' in origin) return origin;
    if (failure !== undefined) {
      await abandon(origin, 0);
      throw failure.error;
    }
    const { uploadUuid } = origin;
    const finished = await owner.finishChunk({ claims, uploadUuid, nonce: blob.nonce }, context.ask);
    // Only the owner knows whether a commit names it, because an answer may have been lost.
    if (isRefused(finished)) await abandon(origin, bytes);
    return answer(Promise.resolve(finished), done('The chunk is stored.'));
  }

  async function download({ context, claims, owner }: TokenRequest<'json'>): Promise<RouteReply> {
    const range = context.header('range');
    const cap = wholeNumberIn(context.header('x-chunk-size') ?? '0');
    if (range === undefined) return refusedAnswer(withoutRange);
    if (cap === undefined) return refusedAnswer(notChunkSize);
    const opened = await begin(owner.openFile({ claims }, context.ask));
    if ('status' in opened) return opened;
    const { bytes: sizeBytes, layout, ...origin } = opened;
    const partBytesMax = Math.min(cap || replyBytesMax, replyBytesMax);
    continuesByToken({ context, claims, owner }, origin.uploadUuid);
    const part = parseRange(range, sizeBytes);
    if (part === 'whole') return refusedAnswer(withoutRange);
    const open = (byteRange: InclusiveRange) =>
      downloads.counted(
        claims.userUuid,
        bytesOf({ store, origin, layout, range: byteRange, signal: context.gone }),
      );
    const reply = rangedReply(range, { sizeBytes, mediaType: bytesType, partBytesMax, open });
    if (reply.stream === undefined) return reply;
    // If the store is unavailable, the same token must work later.
    const refusalIfDeleted = async (error: unknown) => {
      if (!(error instanceof FileStoreError && error.failure === 'missing')) throw error;
      const again = await begin(owner.openFile({ claims }, context.ask));
      if ('status' in again) return again;
      throw error;
    };
    const begun = await begunBytes(reply.stream.open(), context.gone).catch(refusalIfDeleted);
    if ('status' in begun) return begun;
    const answered = { ...reply, stream: { ...reply.stream, open: () => begun.bytes } };
    if (!reachesEnd(part, partBytesMax, sizeBytes)) return answered;
    const by = random.bytes(16).toString('base64url');
    const redeemed = await begin(owner.spendOnRead({ claims, by }, context.ask));
    if ('status' in redeemed) {
      await begun.close();
      return redeemed as RouteReply;
    }
    return answered;
  }

  const ofVaults = [
    byToken('POST', '/move', {
      summary: 'Moves a file between the account and a shared vault, or from one vault to another.',
      ok: { 200: z.object({ success: z.boolean() }) },
      handle: ({ context, claims, owner }) =>
        answer(owner.moveFile({ claims }, context.ask), () => ({ status: 200, body: { success: true } })),
    }),
  ];

  return [
    ...(of === 'vault' ? ofVaults : []),
    byToken('POST', '/upload/create-session', {
      summary: 'Begins to upload a file.',
      ok: { 200: z.object({ success: z.boolean(), uploadId: z.string() }), 413: errorBodySchema },
      handle: ({ context, claims, owner }) => {
        const uploadUuid = random.uuid();
        return answer(owner.openUpload({ claims, uploadUuid }, context.ask), () => ({
          status: 200,
          body: { success: true, uploadId: uploadUuid },
        }));
      },
    }),
    byToken('POST', '/upload/chunk', {
      summary: 'Stores one chunk of a file, of the number in `x-chunk-id`; one sent before is replaced.',
      ok: { 200: doneSchema, 411: errorBodySchema, 413: errorBodySchema, 507: errorBodySchema },
      headers: ['x-chunk-id', 'content-length', 'transfer-encoding'],
      body: 'stream',
      bodyLimit: chunkBytesMax,
      streamOf: (header) => verified(header('x-valet-token'))?.userUuid,
      handle: storeChunk,
    }),
    byToken('POST', '/upload/close-session', {
      summary: 'Makes a file of the chunks, instead of an earlier one of its name.',
      ok: { 200: doneSchema },
      handle: ({ context, claims, owner }) =>
        answer(owner.closeUpload({ claims }, context.ask), done('The file is stored.')),
    }),
    byToken('GET', '', {
      summary: 'Part of a file, from where `range` begins, of at most `x-chunk-size` bytes.',
      ok: { 206: { mediaType: bytesType }, 404: errorBodySchema, 416: errorBodySchema },
      headers: ['range', 'x-chunk-size'],
      handle: download,
    }),
    byToken('DELETE', '', {
      summary: 'Deletes a file.',
      ok: { 200: doneSchema },
      handle: ({ context, claims, owner }) =>
        answer(owner.deleteFile({ claims }, context.ask), done('The file is deleted.')),
    }),
  ];
}

/** A chunk or a part of a file takes as long as its client does, which may be hours. */
function continuesByToken({ context, claims, owner }: TokenRequest<BodyKind>, uploadUuid?: string): void {
  context.onlyWhile(async () => {
    const check = await unlessAbsent(owner.checkToken({ claims, uploadUuid }, { deadlineMs: checkMs }));
    return check === undefined || isRefused(check) ? invalidToken : undefined;
  });
}

/** The result, or the reply that says why there is none. */
async function begin<Ok extends object>(beginning: Promise<Answer<Ok>>): Promise<Ok | RouteReply> {
  let begun: Ok | undefined;
  const reply = await answer(beginning, (ok) => {
    begun = ok;
    return { status: 200 };
  });
  return begun ?? reply;
}

async function* bytesOf({
  store,
  origin,
  layout,
  range,
  signal,
}: {
  readonly store: Pick<FileStore, 'read'>;
  readonly origin: BlobOrigin;
  readonly layout: BlobLayout;
  readonly range: InclusiveRange;
  readonly signal: AbortSignal;
}): AsyncGenerator<Uint8Array, void, undefined> {
  for (const { name, start, end } of piecesOf(origin, layout, range)) {
    yield* store.read(name, { start, end }, signal);
  }
}

interface BegunBytes {
  readonly bytes: AsyncIterable<Uint8Array>;
  close(): Promise<unknown>;
}

/**
 * Resolves when the first piece is there. A client that has gone may never ask for it, so the open file is then
 * closed, too.
 */
async function begunBytes(source: AsyncIterable<Uint8Array>, gone: AbortSignal): Promise<BegunBytes> {
  const pieces = source[Symbol.asyncIterator]();
  const close = async () => pieces.return?.().catch(() => undefined);
  gone.addEventListener('abort', close, { once: true });
  let first: Promise<IteratorResult<Uint8Array>> | undefined = Promise.resolve(await pieces.next());
  const next = () => {
    const now = first ?? pieces.next();
    first = undefined;
    return now;
  };
  const iterator = { next, return: async () => ({ done: true as const, value: await close() }) };
  return { bytes: { [Symbol.asyncIterator]: () => iterator }, close };
}

const reachesEnd = (part: ReturnType<typeof parseRange>, partBytesMax: number, sizeBytes: number): boolean =>
  typeof part === 'object' && Math.min(part.last, part.first + partBytesMax - 1) === sizeBytes - 1;

const wholeNumberIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
