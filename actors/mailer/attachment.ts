/** The file of a mail, which its listener gives while the mail is being sent. One worker does so at a time (`workers.ts`). */
import type { z } from 'zod';
import type { JobRun } from '../../runtime/command.ts';
import { contract } from '../../runtime/contract.ts';
import { ActorError, NotFoundError } from '../../runtime/errors.ts';
import { mailAttachmentShape, type SealedMail } from './contract.ts';
import type { Attachment } from './sender.ts';
import { MailSettings } from './settings.ts';

/** Leaves most of the time of an attempt for the relay. */
const collectMs = 30_000;

/**
 *     too-large     the mail goes without it
 *     gone          there is none any more, so the mail is of no use
 *     unavailable   there may be one later
 */
type Collected = Attachment | 'too-large' | 'gone' | 'unavailable';

export async function collectAttachment(
  run: JobRun,
  listener: NonNullable<SealedMail['listener']>,
  filename: string,
): Promise<Collected> {
  try {
    const pieces = await collect(run, listener);
    return typeof pieces === 'string' ? pieces : { filename, pieces };
  } catch (error) {
    if (error instanceof NotFoundError) return 'gone';
    if (error instanceof ActorError) return 'unavailable';
    throw error;
  }
}

async function collect(
  run: JobRun,
  { kind, id, key }: NonNullable<SealedMail['listener']>,
): Promise<readonly Buffer[] | 'too-large' | 'gone'> {
  const { name, commands } = contract({ name: kind, commands: { mailAttachment: mailAttachmentShape } });
  const { ask } = run.actors.get({ name, commands }, id);
  const { mailBytes } = run.use(MailSettings).limits;
  const untilMs = run.nowMs + collectMs;
  const pieces: Buffer[] = [];
  let bytes = 0;
  let progress: z.infer<typeof mailAttachmentShape.request>['progress'] = null;
  do {
    const piece = await ask.mailAttachment({ key, progress }, { deadlineMs: untilMs - run.nowMs });
    run.signal.throwIfAborted();
    if (piece === null) return 'gone';
    const text = Buffer.from(piece.text);
    bytes += text.byteLength;
    if (bytes > mailBytes) return 'too-large';
    pieces.push(text);
    progress = piece.next;
  } while (progress !== null);
  return pieces;
}
