/** The contract of the store port: it holds for the model and for PostgreSQL alike. */

import { crossOwnerClauses } from './cross-owner-clauses.ts';
import { fenceClauses } from './fence-clauses.ts';
import { ownershipClauses } from './ownership-clauses.ts';
import { readClauses } from './read-clauses.ts';
import type { Clause } from './subject.ts';
import { sweepClauses } from './sweep-clauses.ts';
import { writeClauses } from './write-clauses.ts';

export const contract: readonly Clause[] = [
  ...fenceClauses,
  ...writeClauses,
  ...readClauses,
  ...crossOwnerClauses,
  ...sweepClauses,
  ...ownershipClauses,
];
