/**
 * Exit codes of the process, after sysexits(3), so that a supervisor can recognise failures that a restart cannot
 * fix.
 */
export const serverExitCodes = {
  /** A dependency (the database) could not be started or reached. */
  unavailable: 69,
  /** A defect. */
  software: 70,
  /** Another server holds the data directory; trying later may help. */
  inUse: 75,
  /** A setting or a secret is wrong; trying again cannot help. */
  config: 78,
} as const;

/** The server cannot start, and the message tells the operator what to do. It is printed without a stack trace. */
export class StartError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
    this.exitCode = exitCode;
  }

  static readonly unavailable = (message: string, cause?: unknown) =>
    new StartError(message, serverExitCodes.unavailable, { cause });
  static readonly inUse = (message: string, cause?: unknown) =>
    new StartError(message, serverExitCodes.inUse, { cause });
  static readonly config = (message: string, cause?: unknown) =>
    new StartError(message, serverExitCodes.config, { cause });
}
