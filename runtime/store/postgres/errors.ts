/**
 * What a failed statement means for its sender. All of commit safety depends on one distinction: `unknown` is for what
 * may still have been applied, everything else certainly was not.
 *
 * Only this is certain: an error of severity ERROR, after which the server serves on, with a code
 * that says what went wrong before the effect. A server that ends the connection (FATAL) or itself (PANIC) with its
 * answer may have made the statement durable first, whichever code it gives; one whose disk is full does
 * that with the very code by which it refuses statements without harm.
 */
import { DatabaseError } from 'pg';
import { StoreError, type StoreFailure } from '../store.ts';

/** SQLSTATE codes and, below, classes (their first two characters). Any other leaves the outcome open. */
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
  // The statement was not understood, or its values do not fit what they were meant for.
  '0A': 'defect',
  '21': 'defect',
  '22': 'defect',
  '23': 'defect',
  '26': 'defect',
  '42': 'defect',
  '54': 'defect',
};

/** CockroachDB says so of a commit whose fate it does not know, under more than one code. */
const isAmbiguous = /result is ambiguous/i;
/** CockroachDB refuses a write to a range that has outgrown its bound, before the write has any effect. */
const isBackpressure = /applying backpressure/i;

/** Maps what the driver threw for a statement it had been handed. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (!(error instanceof DatabaseError)) {
    // Not the server's answer: a closed or reset connection, or the driver's own time-out.
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

/** A prepared statement that a schema change has outdated. A fresh parse is always safe: nothing was executed. */
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

/** The driver hands on a severity in the server's language (`lc_messages`), in which it may be any other word. */
export function isOfOtherLanguage(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !['ERROR', 'FATAL', 'PANIC'].includes(error.severity ?? '');
}

/**
 * Codes and names only: the server's messages may quote values, and those are addresses and bodies of people.
 * Class 42 (wrong statement) and the classes of a failing server quote none.
 */
function describe(error: DatabaseError): string {
  const code = error.code ?? 'no code';
  const mayQuote = !/^(42|53|57|58|08|25)/.test(code);
  const where = [error.table, error.column, error.constraint].filter((name) => name !== undefined).join(' ');
  return [code, where, mayQuote ? '' : error.message].filter((part) => part !== '').join(' ');
}
