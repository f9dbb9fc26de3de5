/** Checks a share that a client sends. */
import { z } from 'zod';
import { isStorableText } from '../../../runtime/table.ts';
import { type Refused, refuse } from '../../reply.ts';
import { payloadBytesMax, shareTypes } from '../../share/contract.ts';

const nicknameCharactersMax = 255;
/** A year. */
const minutesMax = 525_600;

const sent = z.object({
  type: z.enum(shareTypes),
  encryptedPayload: z.string().min(1).refine(isStorableText),
  nickname: z.string().refine(isStorableText).nullish(),
  // Only booleans pass: a client that means `true` must not get a share that stays open.
  oneTimeView: z.boolean().nullish(),
  viewExpiresMinutes: z.int().min(1).max(minutesMax).nullish(),
});

export interface ShareDraft {
  readonly type: (typeof shareTypes)[number];
  readonly encryptedPayload: string;
  readonly bytes: number;
  readonly nickname: string | null;
  readonly oneTimeView: boolean;
  readonly viewExpiresMinutes: number | null;
}

const invalid = refuse.badRequest(
  'This cannot be shared: something is missing or has a wrong form.',
  'invalid-share',
);
const tooLarge = refuse.tooLarge('This is too large to be shared.', 'payload-too-large');

export function draftOf(request: unknown): ShareDraft | Refused {
  const { data } = sent.safeParse(request);
  if (data === undefined) return invalid;
  const { type, encryptedPayload, viewExpiresMinutes = null } = data;
  const nickname = data.nickname?.trim() || null;
  if (nickname !== null && nickname.length > nicknameCharactersMax) return invalid;
  const bytes = Buffer.byteLength(encryptedPayload);
  if (bytes > payloadBytesMax) return tooLarge;
  return {
    type,
    encryptedPayload,
    bytes,
    nickname,
    oneTimeView: data.oneTimeView ?? false,
    viewExpiresMinutes,
  };
}
