/** The contract of the store port: it holds for the model and for PostgreSQL alike. */
import { fenceClauses } from './fence-clauses.ts';
import { ownershipClauses } from './ownership-clauses.ts';
import { readClauses } from './read-clauses.ts';
import type { Clause } from './subject.ts';
import { sweepClauses } from './sweep-clauses.ts';
import { visitClauses } from './visit-clauses.ts';
import { writeClauses } from './write-clauses.ts';

export const contract: readonly Clause[] = [
  ...fenceClauses,
  ...writeClauses,
  ...readClauses,
  ...visitClauses,
  ...sweepClauses,
  ...ownershipClauses,
];
