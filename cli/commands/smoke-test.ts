/** `smoke-test`. */
import { exitCodes, Failure } from '../failure.ts';
import { readGivenFile } from '../given-file.ts';
import type { Session } from '../session.ts';
import { UnreachableError } from '../smoke-test/client.ts';
import { runSmokeTest, type Step, StepError } from '../smoke-test/run.ts';
import { type AddCommands, teach } from './command.ts';

interface Options {
  readonly accessKeyFile?: string;
}

export const addSmokeTestCommand: AddCommands = (program, run) => {
  teach(
    program
      .command('smoke-test')
      .argument('<url>', 'the address that clients use')
      .option('--access-key-file <file>', 'the file with the access key, if clients need one')
      .summary('use the server as a client does, once')
      .description(
        'Register an account, sign in on a second device, save a note, hear of it over the socket of the second ' +
          'device, get it there, and delete the account. Exit code 1: a step went wrong; 69: the server cannot be reached.',
      )
      .action((url, options: Options) => run((session) => smokeTest(session, url, options))),
    'After an installation, an upgrade, or a change in front of the server. It knows nothing but the ' +
      'address, so it finds what a proxy spoils, too. The registration has to be open, and without a captcha.',
    'smoke-test https://notes.example.org',
    'smoke-test http://127.0.0.1:3000 --access-key-file access-key',
  );
};

async function smokeTest(session: Session, url: string, { accessKeyFile }: Options): Promise<void> {
  const steps: Step[] = [];
  const { deadlineMs, terminal } = session;
  const accessKey =
    accessKeyFile === undefined
      ? undefined
      : readGivenFile(accessKeyFile, '--access-key-file').toString().trim();
  try {
    await runSmokeTest(
      { url: urlOf(url), accessKey, deadlineMs },
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
    throw new Failure(isAway ? exitCodes.unavailable : exitCodes.refused, `FAILED to ${error.message}.`);
  }
  session.answer({ passed: true, steps }, 'The server does what its clients need.');
}

function urlOf(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new Failure(exitCodes.usage, `${text} is not an address such as https://notes.example.org.`);
}
