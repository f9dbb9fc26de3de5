/**
 * The log: JSON lines on standard error, so that standard output is free for messages to people. Modules log
 * no tokens, cookies, addresses of people or bodies in the first place; the redaction here is the net below
 * that.
 */
import { type Logger, pino } from 'pino';

const secretNames = [
  'password',
  'secret',
  'token',
  'access_token',
  'refresh_token',
  'authorization',
  'cookie',
  'email',
  'identifier',
  'body',
  'content',
  'connectionString',
];

/** Writes to `destination`, by default standard error. Every line names the node. */
export function createLogger(
  { level, node }: { readonly level: string; readonly node: string },
  destination: { write(line: string): void } = pino.destination(2),
): Logger {
  const names = secretNames.map((name) => `["${name}"]`);
  return pino(
    {
      level,
      // Neither the process nor the machine: log collectors know them.
      base: { node },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [...names, ...names.map((name) => `*${name}`), ...names.map((name) => `*.*${name}`)],
        censor: '[redacted]',
      },
    },
    destination,
  );
}
