/** A command's tools: a connection, and one answer for people or for scripts. */
import type { ApiConnection } from './connection.ts';

export class CommandSession {
  readonly ask: ApiConnection['ask'];
  readonly terminal: Terminal;
  /** How long to wait for each answer. */
  readonly deadlineMs: number;
  readonly #isJson: boolean;

  constructor(connection: ApiConnection, terminal: Terminal, isJson: boolean, deadlineMs: number) {
    this.ask = connection.ask.bind(connection);
    this.terminal = terminal;
    this.deadlineMs = deadlineMs;
    this.#isJson = isJson;
  }

  /** The command's one answer: `document` with `--json`, else `text`. Names of the document's fields never change. */
  answer(document: object, text: string | (() => string)): void {
    const plain = typeof text === 'string' ? text : text();
    this.terminal.out(`${this.#isJson ? JSON.stringify(document, null, 2) : plain}\n`);
  }

  progress(text: string): void {
    this.terminal.err(`${text}\n`);
  }
}

/** All rows of a list that comes in pages. */
export async function allPages<Page extends { readonly nextPageToken: string }, Row>(
  pageOf: (pageToken: string) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
): Promise<{ readonly first: Page; readonly rows: readonly Row[] }> {
  const first = await pageOf('');
  const rows = [...rowsOf(first)];
  for (let token = first.nextPageToken; token !== ''; ) {
    const page = await pageOf(token);
    rows.push(...rowsOf(page));
    token = page.nextPageToken;
  }
  return { first, rows };
}

/** The outside world of the command line. */
export interface Terminal {
  /** The answer. */
  out(text: string): void;
  /** Everything else: progress and failures. */
  err(text: string): void;
  /** One secret line: not an argument of a program, and not echoed. */
  askSecret(prompt: string): Promise<string>;
  nowMs(): number;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
}
