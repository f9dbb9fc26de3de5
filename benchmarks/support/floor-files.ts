/**
 * The least that a server can do for files: a chunk is a file, which is synced while the next one comes, and a close waits for the
 * syncs. It has no quota and no commits. It writes and reads in its only thread and copies nothing, so a disk that hesitates halts
 * all of its users, which no real server may do.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fsync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../../gateway/http/uws.ts';
import { chunkBytes } from './files.ts';

const pieceBytes = 524_288;
const sync = promisify(fsync);

interface Chunk {
  readonly path: string;
  readonly descriptor: number;
  durable: Promise<void>;
}

/** By the valet token, which is the name of the file. */
const files = new Map<string, Chunk[]>();

const chunksOf = (req: HttpRequest): Chunk[] => {
  const token = req.getHeader('x-valet-token');
  const chunks = files.get(token) ?? [];
  files.set(token, chunks);
  return chunks;
};

function removeAll(chunks: Chunk[]): void {
  for (const { path, descriptor } of chunks.splice(0)) {
    closeSync(descriptor);
    unlinkSync(path);
  }
}

function answer(res: HttpResponse, data: object = {}): void {
  res.cork(() => {
    res.writeHeader('Content-Type', 'application/json').end(JSON.stringify({ data }));
  });
}

/** `take` gets the pieces in the library's memory. */
function receive(res: HttpResponse, take: (piece: Buffer) => void, done: () => void): void {
  res.onAborted(() => {});
  res.onData((piece, isLast) => {
    take(Buffer.from(piece));
    if (isLast) done();
  });
}

function mintToken(res: HttpResponse): void {
  let text = '';
  receive(
    res,
    (piece) => {
      text += piece.toString();
    },
    () => answer(res, { valetToken: JSON.parse(text).resources[0].remoteIdentifier }),
  );
}

function store(res: HttpResponse, chunks: Chunk[], folder: string): void {
  const path = join(folder, randomUUID());
  const chunk = { path, descriptor: openSync(path, 'wx+'), durable: Promise.resolve() };
  const before = chunks.at(-1)?.durable;
  chunks.push(chunk);
  receive(
    res,
    (piece) => {
      writeSync(chunk.descriptor, piece);
    },
    () => {
      void Promise.resolve(before).then(() => {
        answer(res);
        chunk.durable = sync(chunk.descriptor);
      });
    },
  );
}

/** All chunks have the length of the benchmark's. */
function readAt(chunks: readonly Chunk[], buffer: Buffer, at: number): Buffer {
  const descriptor = chunks[Math.floor(at / chunkBytes)]?.descriptor;
  if (descriptor === undefined) throw new Error('a range beyond the end of the file');
  return buffer.subarray(0, readSync(descriptor, buffer, 0, pieceBytes, at % chunkBytes));
}

function send(res: HttpResponse, req: HttpRequest, chunks: readonly Chunk[]): void {
  const start = Number(/\d+/.exec(req.getHeader('range'))?.[0]);
  const bytes = Math.min(Number(req.getHeader('x-chunk-size')), chunks.length * chunkBytes - start);
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let pieceStart = 0;
  let piece = readAt(chunks, buffer, start);
  /** False while the reader is behind. */
  const push = (): boolean => {
    for (;;) {
      const rest = piece.subarray(res.getWriteOffset() - pieceStart);
      const [isTaken, isDone] = res.tryEnd(rest, bytes);
      if (isDone || !isTaken) return isTaken;
      pieceStart += piece.length;
      piece = readAt(chunks, buffer, start + pieceStart);
    }
  };
  res.onAborted(() => {});
  res.onWritable(push);
  res.cork(() => {
    res.writeStatus('206 Partial Content');
    push();
  });
}

export function serveFiles(app: TemplatedApp, folder: string): void {
  const base = '/v1/files';
  app.post(`${base}/valet-tokens`, mintToken);
  app.post(`${base}/upload/create-session`, (res, req) => {
    removeAll(chunksOf(req));
    answer(res);
  });
  app.post(`${base}/upload/chunk`, (res, req) => store(res, chunksOf(req), folder));
  app.post(`${base}/upload/close-session`, (res, req) => {
    res.onAborted(() => {});
    void Promise.all(chunksOf(req).map(({ durable }) => durable)).then(() => answer(res));
  });
  app.get(base, (res, req) => send(res, req, chunksOf(req)));
  app.del(base, (res, req) => {
    removeAll(chunksOf(req));
    answer(res);
  });
}
