/**
 * `smoke-test`: uses a running server as its clients do. An account registers and signs in on a second device. That device hears
 * over its socket of the first one's save, and fetches it. At the end the test deletes the account, even if it fails.
 */
import { CommandFailure, exitCodes } from '../failure.ts';
import { type ServerAddress, UnreachableError } from '../http-client.ts';
import { readInputFile } from '../input-file.ts';
import type { CommandSession } from '../session.ts';
import { newAccount, newItem, SmokeTestClient, type TestSession } from '../smoke-test/client.ts';
import type { AddCommands } from './command.ts';

interface Options {
  readonly accessKeyFile?: string;
}

export const addSmokeTestCommand: AddCommands = (program, run) => {
  program
    .command('smoke-test')
    .argument('<url>', 'the address that clients use')
    .option('--access-key-file <file>', 'the file with the access key, if clients need one')
    .summary('use the server as a client does, once')
    .description(
      'Register an account, sign in on a second device, save a note, hear of it over the socket of the second ' +
        'device, get it there, and delete the account. Exit code 1: a step went wrong; 69: the server cannot be reached.',
    )
    .action((url, options: Options) => run((session) => smokeTest(session, url, options)))
    .teach(
      'After an installation, an upgrade, or a change in front of the server. It knows nothing but the ' +
        'address, so it finds what a proxy spoils, too. The registration has to be open, and without a captcha.',
      'smoke-test https://notes.example.org',
      'smoke-test http://127.0.0.1:3000 --access-key-file access-key',
    );
};

async function smokeTest(session: CommandSession, url: string, { accessKeyFile }: Options): Promise<void> {
  const steps: SmokeTestStep[] = [];
  const { deadlineMs, terminal } = session;
  const accessKey =
    accessKeyFile === undefined
      ? undefined
      : readInputFile(accessKeyFile, '--access-key-file').toString().trim();
  try {
    await runSmokeTest(
      { url: serverUrl(url), accessKey, deadlineMs },
      {
        monotonicMs: terminal.monotonicMs,
        onStep: (step) => {
          steps.push(step);
          session.progress(`ok    ${step.step} (${step.ms} ms)`);
        },
      },
    );
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const isAway = error.cause instanceof UnreachableError;
    throw new CommandFailure(
      isAway ? exitCodes.unavailable : exitCodes.refused,
      `FAILED to ${error.message}.`,
    );
  }
  session.answer({ passed: true, steps }, 'The server does what its clients need.');
}

export function serverUrl(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw CommandFailure.usage(`${text} is not an address such as https://notes.example.org.`);
}

interface SmokeTestStep {
  readonly step: string;
  readonly ms: number;
}

/** A step went wrong. */
class StepError extends Error {}

interface Watching {
  monotonicMs(): number;
  /** Called after each step. */
  onStep(step: SmokeTestStep): void;
}

/** @throws StepError with the failure as its cause */
async function runSmokeTest(options: ServerAddress, { monotonicMs, onStep }: Watching): Promise<void> {
  const client = new SmokeTestClient(options);
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

  const saveAndFetch = async (first: TestSession): Promise<void> => {
    const second = await step('sign in on a second device', () => client.signIn(account));
    const socket = await step('open its socket', () => client.openSocket(second, monotonicMs));
    try {
      await step('save a note on the first device', () => client.save(first, item));
      await step('hear of it on the second one', () =>
        socket.received('ITEMS_CHANGED_ON_SERVER', options.deadlineMs),
      );
    } finally {
      socket.end();
    }
    await step('get it on the second one', () => client.expectItem(second, item));
  };

  const first = await step('register an account', () => client.register(account));
  try {
    await saveAndFetch(first);
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
