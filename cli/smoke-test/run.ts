/**
 * The smoke test of a running server, from the view of its clients. An account registers and signs in on a second
 * device. That device hears over its socket of the first one's save, and fetches it. The test deletes the account at
 * the end, even if it fails.
 */
import { Client, type ClientOptions, type Device, newAccount, newItem } from './client.ts';

export interface Step {
  readonly step: string;
  readonly ms: number;
}

/** A step went wrong. */
export class StepError extends Error {}

export interface Watching {
  monotonicMs(): number;
  /** Called after each step. */
  onStep(step: Step): void;
}

/** @throws StepError with the failure as its cause */
export async function runSmokeTest(options: ClientOptions, { monotonicMs, onStep }: Watching): Promise<void> {
  const client = new Client(options);
  const account = newAccount();
  const item = newItem();
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const sinceMs = monotonicMs();
    try {
      const result = await work();
      onStep({ step: name, ms: Math.round(monotonicMs() - sinceMs) });
      return result;
    } catch (error) {
      throw new StepError(`${name}: ${(error as Error).message}`, { cause: error });
    }
  };

  const useIt = async (first: Device): Promise<void> => {
    const second = await step('sign in on a second device', () => client.signIn(account));
    const socket = await step('open its socket', () => client.openSocket(second));
    try {
      await step('save a note on the first device', () => client.save(first, item));
      await step('hear of it on the second one', () =>
        socket.received('ITEMS_CHANGED_ON_SERVER', options.deadlineMs),
      );
    } finally {
      socket.end();
    }
    await step('get it on the second one', () => client.fetch(second, item));
  };

  const first = await step('register an account', () => client.register(account));
  try {
    await useIt(first);
  } catch (error) {
    // The first failure is the one to report.
    await client.deleteAccount(first, account).catch(() => {
      throw new StepError(`${(error as Error).message}. The account ${account.email} is left`, {
        cause: error,
      });
    });
    throw error;
  }
  await step('delete the account', () => client.deleteAccount(first, account));
}
