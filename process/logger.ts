/**
 * The log: JSON lines on standard error, so that standard output is free for messages to people. Modules must not log
 * tokens, cookies, addresses of people or bodies in the first place. The redaction here is a safety net.
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
      // Without process and machine: log collectors add them.
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
