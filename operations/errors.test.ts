import { status } from '@grpc/grpc-js';
import test from 'ava';
import {
  DatabaseUnavailableError,
  FencedError,
  ForbiddenError,
  MovedError,
  NotFoundError,
  OverloadedError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../runtime/errors.ts';
import { callErrorOf, invalidArgument } from './errors.ts';

const cases: readonly [string, Error, status | undefined, number | undefined][] = [
  ['an actor that does not exist', new NotFoundError('x'), status.NOT_FOUND, undefined],
  ['a call that the caller may not make', new ForbiddenError('x'), status.PERMISSION_DENIED, undefined],
  ['a limit', new OverloadedError('x', 700), status.RESOURCE_EXHAUSTED, 700],
  ['a dependency that is away', new UnavailableError('x', 300), status.UNAVAILABLE, 300],
  ['a newer owner', new FencedError('x'), status.UNAVAILABLE, 1_000],
  ['a shard between owners', new MovedError('x'), status.UNAVAILABLE, 1_000],
  ['a failure without effect', new RetryableError('x', { outcome: 'none' }), status.UNAVAILABLE, 1_000],
  ['an unknown outcome', new RetryableError('x', { outcome: 'unknown' }), status.UNKNOWN, undefined],
  ['a defect', new TerminalError('x'), undefined, undefined],
  ['an error of no class', new Error('x'), undefined, undefined],
  ['a database that is away', new DatabaseUnavailableError('x'), status.UNAVAILABLE, 2_000],
  ['a field that is wrong', invalidArgument('x'), status.INVALID_ARGUMENT, undefined],
];

for (const [what, error, code, retryAfterMs] of cases) {
  test(`${what} is ${code === undefined ? 'unexpected' : status[code]}`, (t) => {
    const mapped = callErrorOf(error);
    t.is(mapped?.code, code);
    t.is(mapped?.retryAfterMs, retryAfterMs);
  });
}
