import type { Refusal as DomainRefusal, RefusalReason } from '../../actors/reply.ts';

const statuses: Readonly<Record<RefusalReason, number>> = {
  'bad-request': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  locked: 423,
  'too-many': 429,
  // Clients exchange their tokens on this status.
  expired: 498,
  'not-implemented': 501,
  'upstream-failed': 502,
  unavailable: 503,
};

/** The status for a refusal of the domain. */
export const statusOf = ({ reason }: Pick<DomainRefusal, 'reason'>): number => statuses[reason];

/** A route's own refusal, in the form of a domain answer. */
export type RouteRefusal = Omit<DomainRefusal, 'reason'> & { readonly status: number };
