/** What can happen to a statement, and what its sender has to be told of it (design 4.2). */
import type { StoreFailure } from '../../runtime/store/store.ts';
import type { Fault } from '../kit/postgres-proxy.ts';

export interface FaultCase {
  readonly fault: Fault;
  readonly failure: StoreFailure;
}

const errorCase = (code: string, failure: StoreFailure, isApplied = false): FaultCase => ({
  fault: { effect: 'error', code, isApplied },
  failure,
});

export const faultCases: readonly FaultCase[] = [
  errorCase('40001', 'conflict'),
  errorCase('53100', 'unavailable'),
  errorCase('25006', 'unavailable'),
  errorCase('40003', 'unknown'),
  errorCase('40003', 'unknown', true),
  errorCase('57014', 'unknown'),
  ...(['fatal', 'reset', 'silence'] as const).flatMap((effect) =>
    [false, true].map(
      (isApplied): FaultCase => ({
        fault: { effect, code: '57P01', isApplied },
        failure: 'unknown',
      }),
    ),
  ),
];

export function describeFault({ effect, code, isApplied }: Fault): string {
  const what = effect === 'error' || effect === 'fatal' ? `${effect} ${code}` : effect;
  return `${what} ${isApplied ? 'after' : 'before'} it ran`;
}
