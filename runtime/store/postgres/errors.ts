/**
 * What a failed statement means for whoever sent it (design 4.2). The whole of commit safety hangs on one
 * distinction: `unknown` for whatever may still have been applied, everything else certainly was not.
 */
import { DatabaseError } from 'pg';
import { StoreError, type StoreFailure } from '../store.ts';

/** SQLSTATE codes and, below, classes (their first two characters). */
const failureByCode: Readonly<Record<string, StoreFailure>> = {
  '23505': 'refused',
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'conflict',
  '25006': 'unavailable',
  // The server could not say whether the statement completed.
  '40003': 'unknown',
  // Cancelled or timed out, possibly after its effect and before its answer.
  '57014': 'unknown',
  '57P01': 'unknown',
  '57P02': 'unknown',
  '57P03': 'unknown',
  '57P04': 'unknown',
  '57P05': 'unknown',
  // A transaction that idled too long was rolled back, but the answer to its end may be what was lost.
  '25P03': 'unknown',
};
const failureByClass: Readonly<Record<string, StoreFailure>> = {
  '53': 'unavailable',
  '58': 'unavailable',
  '08': 'unknown',
};

/** Maps what the driver threw for a statement it had been handed. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (!(error instanceof DatabaseError)) {
    // Not the server's answer: a closed or reset connection, or the driver's own time-out.
    const reason = error instanceof Error ? error.message : String(error);
    return new StoreError('unknown', `the outcome is unknown: ${reason}`);
  }
  return new StoreError(failureOf(error.code ?? ''), describe(error));
}

export function failureOf(code: string): StoreFailure {
  return failureByCode[code] ?? failureByClass[code.slice(0, 2)] ?? 'defect';
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
