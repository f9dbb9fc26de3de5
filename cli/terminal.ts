/** What the command line is given of the outside world. */
export interface Terminal {
  /** What was asked for. */
  out(text: string): void;
  /** What there is to say besides: progress and failures. */
  err(text: string): void;
  nowMs(): number;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
}
