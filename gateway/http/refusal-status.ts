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
  // Clients know this one as the time to exchange their tokens.
  expired: 498,
  'not-implemented': 501,
  'upstream-failed': 502,
  unavailable: 503,
};

/** The status by which a refusal of the domain is answered. */
export const statusOf = ({ reason }: Pick<DomainRefusal, 'reason'>): number => statuses[reason];

/** What a route refuses by itself, as the domain would be answered. */
export type RouteRefusal = Omit<DomainRefusal, 'reason'> & { readonly status: number };
