import type { Turn } from '../../../runtime/command.ts';
import { type Head, head } from '../../collection/head.ts';
import { Vault } from '../contract.ts';
import type { VaultItemsChanged } from '../events.ts';

interface Actor {
  readonly by?: string | undefined;
  readonly sessionUuid?: string | undefined;
}

/** Notifies members that items have changed: by an event, so that a save costs the same however many members there are. */
export function notifyMembers(turn: Turn, before: Head, { by, sessionUuid }: Actor = {}): void {
  if (turn.get(head) === before) return;
  const changed: VaultItemsChanged = {
    event: 'items-changed',
    timestamp: turn.nowMicros,
    ...(by !== undefined && { by }),
    ...(sessionUuid !== undefined && { session: sessionUuid }),
  };
  turn.publish(Vault, changed);
}
