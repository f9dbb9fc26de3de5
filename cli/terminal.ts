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
