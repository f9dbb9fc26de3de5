/** One line that somebody types or pastes and nobody is shown, or that comes by a pipe. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Where a terminal's echo goes. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** Without its line feed; empty where there is none. */
export async function readSecretLine(input: Input, prompt: () => void): Promise<string> {
  // As a terminal of the library's own, it echoes to its output; and is not cut at the 4,095 characters of the system's lines.
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
