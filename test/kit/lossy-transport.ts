import { RetryableError } from '../../runtime/errors.ts';
import { InProcessTransport } from '../../runtime/transport/in-process.ts';
import type { AskCall } from '../../runtime/transport/transport.ts';

/** A transport that reports when a call has arrived, and can lose its reply like a broken connection. */
export class LossyTransport extends InProcessTransport {
  /** The requested commands, in order. */
  readonly commands: string[] = [];
  #losing: string | undefined;
  #awaited: { readonly command: string; readonly resolve: () => void } | undefined;
  #held: { readonly command: string; readonly resolve: (release: () => void) => void } | undefined;
  #lost: ((reply: unknown) => void) | undefined;

  /** Loses the reply to the next call of this command, and resolves to it. The caller asks again. */
  loseReplyTo(command: string): Promise<unknown> {
    this.#losing = command;
    return new Promise((resolve) => {
      this.#lost = resolve;
    });
  }

  /** Resolves when the next call of this command has reached the host. */
  nextAskOf(command: string): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { command, resolve };
    });
  }

  /** Holds the next call of this command on its way. Resolves, once it is held, to the function that releases it. */
  holdNextAskOf(command: string): Promise<() => void> {
    return new Promise((resolve) => {
      this.#held = { command, resolve };
    });
  }

  override async ask(call: AskCall): Promise<unknown> {
    this.commands.push(call.command);
    const held = this.#held;
    if (call.command === held?.command) {
      this.#held = undefined;
      await new Promise<void>((resolve) => held.resolve(resolve));
    }
    const pending = super.ask(call);
    if (call.command === this.#awaited?.command) this.#awaited.resolve();
    const reply = await pending;
    if (call.command !== this.#losing) return reply;
    this.#losing = undefined;
    this.#lost?.(reply);
    throw new RetryableError('the reply was lost', { outcome: 'unknown', retryAfterMs: 10 });
  }
}
