/**
 * Asks of many actors in one message, the host's side (`batched-asks.ts`).
 *
 * The host carries out each ask as if it had come by itself. An ask that fails, takes long or has a large answer leaves its
 * position without a reply, and the caller asks for it by itself. An ask that began may still take effect after its batch was
 * answered, as when an answer is lost.
 *
 * A bounded number of asks of all batches runs at once: half as many as actors may activate at once. So a host that has taken
 * over many actors answers others, too.
 */

import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { Semaphore } from '../semaphore.ts';
import type { AskCall } from '../transport/transport.ts';

export interface BatchAnswersOptions {
  readonly clock: Clock;
  /** Runs one ask after checking its request. @throws ActorError */
  readonly ask: (call: AskCall) => Promise<unknown>;
}

type Reply = BatchReply['replies'][number];

const concurrencyMax = 32;
/** The host answers a batch within this time, so that a slow actor does not delay the others for long. */
const answeredWithinMs = 1_000;
/** The bytes of all replies to one batch. */
const replyBytesMax = 256 * 1_024;

export class BatchAnswers {
  readonly #options: BatchAnswersOptions;
  readonly #semaphore = new Semaphore(concurrencyMax);

  constructor(options: BatchAnswersOptions) {
    this.#options = options;
  }

  async answer({ asks }: BatchRequest, deadlineMs: number): Promise<BatchReply> {
    const { clock, ask } = this.#options;
    const replies: Reply[] = asks.map(() => null);
    let freeBytes = replyBytesMax;
    let isAnswered = false;
    const answerOne = async (index: number, call: AskCall) => {
      // The caller no longer waits for the batch, and asks for this one by itself.
      if (isAnswered) return;
      const value = await ask(call);
      freeBytes -= JSON.stringify(value ?? null).length;
      if (freeBytes >= 0 && !isAnswered) replies[index] = { value };
    };
    const answering = asks.map(async ({ kind, id, command, request, callId }, index) => {
      // A batch takes no commands of the host itself, such as another batch.
      if (command.startsWith('$')) return;
      const call = { address: { kind, id }, command, request, callId, deadlineMs };
      // The caller sends this ask alone, which then fails in the same way and reports the cause.
      await this.#semaphore.run(() => answerOne(index, call)).catch(() => {});
    });
    await this.#inTime(Promise.all(answering), Math.min(answeredWithinMs, deadlineMs - clock.monotonicMs()));
    isAnswered = true;
    return { replies };
  }

  async #inTime(work: Promise<unknown>, withinMs: number): Promise<void> {
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#options.clock.schedule(Math.max(0, withinMs), resolve);
    });
    await Promise.race([work, late]);
    cancel();
  }
}

/** The most asks in one batch. */
export const batchMax = 64;

export const batchRequestSchema = z.object({
  asks: z
    .array(
      z.object({
        kind: z.string(),
        id: z.string(),
        command: z.string(),
        request: z.unknown(),
        /** The call id that a single ask has. */
        callId: z.string(),
      }),
    )
    .max(batchMax)
    .readonly(),
});
export type BatchRequest = z.infer<typeof batchRequestSchema>;

export const batchReplySchema = z.object({
  /** In the order of the asks. Null asks the caller to send that one alone. */
  replies: z.array(z.object({ value: z.unknown() }).nullable()).readonly(),
});
export type BatchReply = z.infer<typeof batchReplySchema>;
