/** Reads one line that the user types or pastes unseen, or that comes through a pipe. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** The output for a terminal's echo. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** The first line, without its line feed. Empty if the input is empty. */
export async function readSecretLine(input: Input, prompt: () => void): Promise<string> {
  // As a terminal, the library itself echoes what is typed, and it does so to `nowhere`. It also does not cut a line at the 4,095
  // characters at which the system would.
  const lines = createInterface({ input, output: nowhere(), terminal: input.isTTY === true });
  const line = new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
  prompt();
  try {
    return await line;
  } finally {
    lines.close();
  }
}
