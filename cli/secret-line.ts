/** Reads one line that the user types or pastes unseen, or that comes through a pipe. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** The output for a terminal's echo. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** The first line, without its line feed. Empty if the input is empty. */
export async function readSecretLine(input: Input, prompt: () => void): Promise<string> {
  // As a terminal of the library's own, it echoes to its output. It also does not cut lines at the system's 4,095
  // characters.
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
