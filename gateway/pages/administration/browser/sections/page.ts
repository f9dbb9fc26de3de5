import type { Server } from '../server.ts';

/** What the sections of the page share. */
export interface PageTools {
  readonly server: Server;
  /** Shows a sentence, such as why something was refused; empty for none. */
  say(sentence: string): void;
}
