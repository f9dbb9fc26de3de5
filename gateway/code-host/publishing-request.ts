/** What a client wants to publish, as the code host needs it (docs/protocol/code-host.md, "A request"). */
import { isStorableText } from '../../runtime/table.ts';
import type { RouteRefusal } from '../http/refusal.ts';

export interface RefusedPublishing {
  readonly refused: RouteRefusal;
}

/** Statuses as the code host gives them. The domain has no error for some of them. */
export const refusePublishing = (status: number, message: string, tag?: string): RefusedPublishing => ({
  refused: { status, message, tag },
});

export const contentBytesMax = 2_097_152;

export interface PublishingRequest {
  readonly token?: unknown;
  readonly owner?: unknown;
  readonly repo?: unknown;
  readonly branch?: unknown;
  readonly path?: unknown;
  readonly content?: unknown;
  readonly message?: unknown;
}

export interface Publishing {
  readonly token: string;
  readonly owner: string;
  readonly repo: string;
  readonly branch: string;
  /** Without empty segments, and without segments that leave the folder. */
  readonly path: string;
  readonly content: string;
  readonly message: string;
}

const invalid = {
  token: refusePublishing(400, 'Give the access token that the code host has made for you.', 'missing-token'),
  owner: refusePublishing(400, 'This is not the name of an owner.', 'invalid-owner'),
  repo: refusePublishing(400, 'This is not the name of a repository.', 'invalid-repo'),
  branch: refusePublishing(400, 'This is not the name of a branch.', 'invalid-branch'),
  path: refusePublishing(400, 'This is not the path of a file.', 'invalid-path'),
  content: refusePublishing(400, 'This is not the text of a file.', 'invalid-request'),
  message: refusePublishing(400, 'This is not a message of at most 1000 characters.', 'invalid-request'),
} as const;
const tooLarge = refusePublishing(400, `A file holds at most ${contentBytesMax} bytes.`, 'content-too-large');

export function publishingOf(request: PublishingRequest): Publishing | RefusedPublishing {
  const token = trimmed(request.token);
  if (token === undefined || !/^[\x21-\x7e]{1,512}$/.test(token)) return invalid.token;
  if (!isName(request.owner)) return invalid.owner;
  if (!isName(request.repo)) return invalid.repo;
  const branch = trimmed(request.branch ?? '') || 'main';
  if (trimmed(request.branch ?? '') === undefined || !isLine(branch, 255)) return invalid.branch;
  const path = pathOf(request.path);
  if (path === undefined) return invalid.path;
  const content = request.content ?? '';
  if (typeof content !== 'string') return invalid.content;
  if (Buffer.byteLength(content) > contentBytesMax) return tooLarge;
  const message = trimmed(request.message ?? '');
  if (message === undefined || message.length > 1_000) return invalid.message;
  const { owner, repo } = request;
  return { token, owner, repo, branch, path, content, message: message || `Publish ${path}` };
}

const trimmed = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.trim() : undefined;

const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w.-]{1,255}$/.test(value) && value !== '.' && value !== '..';

const isLine = (text: string, charactersMax: number): boolean =>
  text.length <= charactersMax && !/\p{Cc}/u.test(text) && isStorableText(text);

function pathOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const segments = value
    .replaceAll('\\', '/')
    .split('/')
    .map((segment) => segment.trim());
  const path = segments.filter((segment) => !['', '.', '..'].includes(segment)).join('/');
  return path !== '' && isLine(path, 1_024) ? path : undefined;
}
