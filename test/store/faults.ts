/** The faults of a statement, and what its sender must learn of it. */
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

const beforeAndAfter = (fault: Omit<Fault, 'isApplied'>): readonly FaultCase[] =>
  [false, true].map((isApplied) => ({ fault: { ...fault, isApplied }, failure: 'unknown' }));

export const faultCases: readonly FaultCase[] = [
  errorCase('40001', 'conflict'),
  errorCase('53100', 'unavailable'),
  errorCase('25006', 'unavailable'),
  { fault: { effect: 'error', code: '53100', severity: 'FEHLER', isApplied: false }, failure: 'unavailable' },
  errorCase('40003', 'unknown'),
  errorCase('40003', 'unknown', true),
  errorCase('57014', 'unknown'),
  errorCase('XX000', 'unknown'),
  errorCase('XX000', 'unknown', true),
  ...(['fatal', 'reset', 'silence'] as const).flatMap((effect) => beforeAndAfter({ effect, code: '57P01' })),
  // Codes that prove for an ERROR that nothing was applied. From a server that is ending, they do not.
  ...beforeAndAfter({ effect: 'fatal', code: '40001' }),
  ...beforeAndAfter({ effect: 'fatal', code: '53100', severity: 'PANIC' }),
  ...beforeAndAfter({ effect: 'fatal', code: '53100', severity: 'PANIK' }),
];

export function describeFault({ effect, code, severity, isApplied }: Fault): string {
  const said = severity ?? (effect === 'fatal' ? 'FATAL' : 'ERROR');
  const what = effect === 'error' || effect === 'fatal' ? `${said} ${code}` : effect;
  return `${what} ${isApplied ? 'after' : 'before'} it ran`;
}
