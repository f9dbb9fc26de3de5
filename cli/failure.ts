/** Why a command failed: one sentence for people, and an exit code for scripts. */
import { type ServiceError, status } from '@grpc/grpc-js';

/** From sysexits(3), where it has a fitting code. */
export const exitCodes = {
  ok: 0,
  /** The cluster refuses: there is no such thing, or the action is not allowed. */
  refused: 1,
  /** The command line is wrong. */
  usage: 64,
  /** A part of the request was not done. The message names it. */
  incomplete: 65,
  /** The cluster cannot answer now; trying later may help. */
  unavailable: 69,
} as const;

export class CommandFailure extends Error {
  readonly exitCode: number;
  /** The node's answer, if the node refused. */
  readonly code: status | undefined;
  constructor(exitCode: number, message: string, code?: status) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
    this.code = code;
  }

  static readonly refused = (message: string) => new CommandFailure(exitCodes.refused, message);
  static readonly usage = (message: string) => new CommandFailure(exitCodes.usage, message);
  static readonly unavailable = (message: string) => new CommandFailure(exitCodes.unavailable, message);
}

const codesOf: Partial<Record<status, number>> = {
  [status.INVALID_ARGUMENT]: exitCodes.usage,
  [status.NOT_FOUND]: exitCodes.refused,
  [status.FAILED_PRECONDITION]: exitCodes.refused,
  [status.PERMISSION_DENIED]: exitCodes.refused,
  [status.UNAUTHENTICATED]: exitCodes.refused,
};

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error;
}

export function commandFailureOf(error: ServiceError, address: string, deadlineMs: number): CommandFailure {
  return new CommandFailure(
    codesOf[error.code] ?? exitCodes.unavailable,
    sentence(error, address, deadlineMs),
    error.code,
  );
}

function sentence({ code, details }: ServiceError, address: string, deadlineMs: number): string {
  switch (code) {
    case status.DEADLINE_EXCEEDED:
      return `${address} did not answer within ${deadlineMs} ms; allow more time with --deadline-ms.`;
    case status.UNAUTHENTICATED:
      return `${details} --token names the file.`;
    case status.UNIMPLEMENTED:
      return `${address} does not know this command: it may run another version.`;
    case status.RESOURCE_EXHAUSTED:
    case status.UNAVAILABLE:
      return isConnectionProblem(details) ? noConnection(details, address) : details;
    default:
      return details;
  }
}

/** The gRPC library begins its own texts so. Other texts come from the node. */
const isConnectionProblem = (details: string) =>
  /^(No connection established|Connection dropped|Name resolution failed|Stream|Call|Failed)/i.test(details);

const reasons =
  /connect E[A-Z]+|self-signed certificate|certificate has expired|does not match certificate's altnames|alert [a-z ]+|wrong version number/;

function noConnection(details: string, address: string): string {
  const reason = reasons.exec(details)?.[0];
  return (
    `No connection to ${address}${reason === undefined ? '' : ` (${reason})`}. Is a node running there? ` +
    'The address is set by --address, by DATA_DIR or by GRPC_HOST and GRPC_PORT, and TLS by --ca, --cert and --key.'
  );
}
