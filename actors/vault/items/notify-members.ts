import type { Turn } from '../../../runtime/command.ts';
import { type Head, head } from '../../collection/head.ts';
import { Vault } from '../contract.ts';
import type { VaultItemsChanged } from '../events.ts';

interface Actor {
  readonly by?: string | undefined;
  readonly sessionUuid?: string | undefined;
}

/** By an event, so that a save costs the same however many members there are: that items are others than they were. */
export function tellMembers(turn: Turn, before: Head, { by, sessionUuid }: Actor = {}): void {
  if (turn.get(head) === before) return;
  const changed: VaultItemsChanged = {
    event: 'items-changed',
    timestamp: turn.nowMicros,
    ...(by !== undefined && { by }),
    ...(sessionUuid !== undefined && { session: sessionUuid }),
  };
  turn.publish(Vault, changed);
}
