/** Reads outside of turns. */
import type { LookupPlan, LookupResult } from './command.ts';
import type { AnyTable } from './table.ts';

export interface Lookups {
  /** Committed rows of any actor by a server-wide unique key: a hint, as in a read plan. @throws ActorError */
  find<T extends AnyTable>(plan: LookupPlan<T>): Promise<LookupResult<T>>;
}
