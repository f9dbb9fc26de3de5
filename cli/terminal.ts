/** The outside world of the command line. */
export interface Terminal {
  /** The answer. */
  out(text: string): void;
  /** Everything else: progress and failures. */
  err(text: string): void;
  /** One line that is not to be seen: no argument of a program, and no echo. */
  askSecret(prompt: string): Promise<string>;
  nowMs(): number;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
}
