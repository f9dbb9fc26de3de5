import test from 'ava';
import { DatabaseError } from 'pg';
import { StoreError, type StoreFailure } from '../store.ts';
import { isAnswer, isOfOtherLanguage, isStalePlan, toStoreError } from './errors.ts';

function databaseError(code: string, message = 'text of the server', severity = 'ERROR'): DatabaseError {
  const error = new DatabaseError(message, message.length, 'error');
  return Object.assign(error, { code, severity });
}

const expected: Readonly<Record<string, StoreFailure>> = {
  '23505': 'rejected',
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'conflict',
  '53000': 'unavailable',
  '53100': 'unavailable',
  '53200': 'unavailable',
  '53300': 'unavailable',
  '53400': 'unavailable',
  '25006': 'unavailable',
  '58030': 'unavailable',
  '40003': 'unknown',
  '57014': 'unknown',
  '57P01': 'unknown',
  '57P02': 'unknown',
  '57P03': 'unknown',
  '57P05': 'unknown',
  '25P03': 'unknown',
  '08000': 'unknown',
  '08003': 'unknown',
  '08006': 'unknown',
  '08P01': 'unknown',
  '0A000': 'defect',
  '22021': 'defect',
  '22P02': 'defect',
  '23502': 'defect',
  '42601': 'defect',
  '42P01': 'defect',
  '26000': 'defect',
  '54001': 'defect',
  // Codes that nobody knows, and none.
  XX000: 'unknown',
  XXUUU: 'unknown',
  '25000': 'unknown',
  '': 'unknown',
};

for (const [code, failure] of Object.entries(expected)) {
  test(`${code} means ${failure}`, (t) => {
    t.is(toStoreError(databaseError(code)).failure, failure);
  });
}

for (const severity of ['FATAL', 'PANIC', 'PANIK', '']) {
  test(`an error of severity "${severity}" leaves the outcome unknown, whatever its code`, (t) => {
    for (const code of Object.keys(expected)) {
      t.is(toStoreError(databaseError(code, 'text', severity)).failure, 'unknown', code);
    }
  });
}

test('a severity in English is known for what it is, another is not', (t) => {
  for (const severity of ['ERROR', 'FATAL', 'PANIC'])
    t.false(isOfOtherLanguage(databaseError('53100', 'text', severity)));
  for (const severity of ['FEHLER', 'PANIK', ''])
    t.true(isOfOtherLanguage(databaseError('53100', '', severity)));
  t.false(isOfOtherLanguage(new Error('Connection terminated')));
});

test('an error that is no answer of the server leaves the outcome unknown', (t) => {
  const breaks = [
    new Error('Connection terminated unexpectedly'),
    new Error('Query read timeout'),
    Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    'not even an error',
  ];
  for (const error of breaks) t.is(toStoreError(error).failure, 'unknown');
});

test('a result that the database calls ambiguous is unknown under every code', (t) => {
  for (const code of Object.keys(expected)) {
    const error = databaseError(code, 'result is ambiguous: error=rpc error: code = Unavailable');
    t.is(toStoreError(error).failure, 'unknown', code);
  }
});

test('a write that the database holds back is unavailable, and no defect of its account', (t) => {
  const text = 'split failed while applying backpressure to Put [/Table/106/1]';
  for (const code of ['XXUUU', '54000', '22000'])
    t.is(toStoreError(databaseError(code, text)).failure, 'unavailable');
  t.is(toStoreError(databaseError('XXUUU', `${text}: result is ambiguous`)).failure, 'unknown');
});

test('a store error stays what it is', (t) => {
  const error = new StoreError('unavailable', 'no connection');
  t.is(toStoreError(error), error);
});

test('values that the server quotes stay out of the message, and what names the statement goes in', (t) => {
  const quoting = Object.assign(databaseError('23505', 'duplicate key ada@example.org'), {
    detail: 'Key (email)=(ada@example.org) already exists.',
    table: 'account',
    constraint: 'account_unique_email',
  });
  const { message, cause } = toStoreError(quoting);
  t.is(message, '23505 account account_unique_email');
  t.is(cause, undefined);
  t.is(toStoreError(databaseError('22P02', 'invalid input syntax for type uuid: "ada"')).message, '22P02');
  t.is(
    toStoreError(databaseError('42P01', 'relation "x" does not exist')).message,
    '42P01 relation "x" does not exist',
  );
});

test('only an outdated plan is recognised as one that may be parsed again', (t) => {
  t.true(isStalePlan(databaseError('0A000', 'cached plan must not change result type')));
  t.false(isStalePlan(databaseError('0A000', 'this feature is not supported')));
  t.false(isStalePlan(new Error('cached plan must not change result type')));
});

test('after an error of a statement the connection serves on, after a fatal one it does not', (t) => {
  t.true(isAnswer(databaseError('23505')));
  t.false(isAnswer(databaseError('57P01', 'terminating connection', 'FATAL')));
  t.false(isAnswer(new Error('Connection terminated')));
});
