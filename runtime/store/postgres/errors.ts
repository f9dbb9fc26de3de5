/**
 * What a failed statement means for its sender. All of commit safety depends on one distinction: an `unknown` statement may
 * still have been applied, and any other certainly was not.
 *
 * Only one kind of error is certain: severity ERROR, after which the server continues, with a code whose cause precedes any
 * effect. A server may end the connection (FATAL) or itself (PANIC) with its answer. It may have made the statement durable
 * first, whichever code it gives. A server with a full disk does so with the very code by which it refuses statements without
 * harm.
 */
import { DatabaseError } from 'pg';
import { StoreError, type StoreFailure } from '../store.ts';

/** SQLSTATE codes and, below them, classes of codes (their first two characters). After any other code the outcome is unknown. */
const failureByCode: Readonly<Record<string, StoreFailure>> = {
  '23505': 'rejected',
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'conflict',
  '25006': 'unavailable',
};
const failureByClass: Readonly<Record<string, StoreFailure>> = {
  '53': 'unavailable',
  '58': 'unavailable',
  // The server did not understand the statement, or its values do not fit.
  '0A': 'defect',
  '21': 'defect',
  '22': 'defect',
  '23': 'defect',
  '26': 'defect',
  '42': 'defect',
  '54': 'defect',
};

/** CockroachDB says this, under more than one code, of a commit whose outcome it does not know. */
const isAmbiguous = /result is ambiguous/i;
/** CockroachDB refuses a write to a range that has outgrown its bound, before the write has any effect. */
const isBackpressure = /applying backpressure/i;

/** Maps an error that the driver threw for a statement it had taken. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (!(error instanceof DatabaseError)) {
    // Not an answer of the server: a closed or reset connection, or the driver's own time-out.
    const reason = error instanceof Error ? error.message : String(error);
    return new StoreError('unknown', `the outcome is unknown: ${reason}`);
  }
  return new StoreError(failureOf(error), describe(error));
}

function failureOf(error: DatabaseError): StoreFailure {
  if (!isAnswer(error) || isAmbiguous.test(error.message)) return 'unknown';
  if (isBackpressure.test(error.message)) return 'unavailable';
  const code = error.code ?? '';
  return failureByCode[code] ?? failureByClass[code.slice(0, 2)] ?? 'unknown';
}

/** A schema change has outdated a prepared statement. Parsing it again is always safe, because nothing was executed. */
export function isStalePlan(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    error.code === '0A000' &&
    error.message.includes('cached plan must not change')
  );
}

/** Whether the server answered, so that the connection can serve the next statement. */
export function isAnswer(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity === 'ERROR';
}

/** The driver passes on the severity in the server's language (`lc_messages`), where it may be any other word. */
export function isOfOtherLanguage(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !['ERROR', 'FATAL', 'PANIC'].includes(error.severity ?? '');
}

/**
 * Codes and names only. The server's messages may quote values, which are addresses and bodies of people. Class 42 (wrong
 * statement) and the classes of a failing server quote none.
 */
function describe(error: DatabaseError): string {
  const code = error.code ?? 'no code';
  const mayQuote = !/^(42|53|57|58|08|25)/.test(code);
  const where = [error.table, error.column, error.constraint].filter((name) => name !== undefined).join(' ');
  return [code, where, mayQuote ? '' : error.message].filter((part) => part !== '').join(' ');
}
