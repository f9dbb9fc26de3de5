/** The outside world of the command line. */
export interface Terminal {
  /** The answer. */
  out(text: string): void;
  /** Everything else: progress and failures. */
  err(text: string): void;
  nowMs(): number;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
}
