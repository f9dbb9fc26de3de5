import type { Registry } from 'prom-client';
import type { RepairCause, SubscriptionMetrics } from '../../runtime/events.ts';
import { meterOf } from '../../runtime/meter.ts';
import type { CloseReason } from './open-socket.ts';

type UpgradeOutcome = 'opened' | 'refused' | 'aborted';

type VaultOutcome = 'answered' | 'failed' | 'full';

export interface SocketMetrics extends SubscriptionMetrics {
  upgrade(outcome: UpgradeOutcome): void;
  sent(frames: number): void;
  closed(reason: CloseReason): void;
  /** Whether a vault has said which of its members are here. */
  vaultAsked(outcome: VaultOutcome): void;
}

/** Labels are outcomes and reasons, never ids. */
export function prometheusSocketMetrics(
  registry: Registry,
  read: Readonly<Record<'open' | 'users' | 'waiting' | 'vaults', () => number>>,
): SocketMetrics {
  const { counter, gauge } = meterOf(registry);
  const upgrades = counter('scriptorium_socket_upgrades_total', 'Sockets asked for, by outcome', ['outcome']);
  const received = counter(
    'scriptorium_socket_events_received_total',
    'Events that hosts sent to this gateway',
  );
  const sent = counter('scriptorium_socket_frames_sent_total', 'Frames sent to clients');
  const closed = counter('scriptorium_sockets_closed_total', 'Sockets closed, by reason', ['reason']);
  const gaps = counter(
    'scriptorium_socket_event_gaps_total',
    'Times a host’s events had a gap: some were lost',
  );
  const repairs = counter(
    'scriptorium_socket_repairs_total',
    'Users and vaults whose clients were asked to sync as an event may have been lost, by cause',
    ['cause'],
  );
  const vaults = counter(
    'scriptorium_socket_vault_registrations_total',
    'Vaults asked who of their members has sockets here, by outcome: where it failed or there was no room, clients poll',
    ['outcome'],
  );
  gauge('scriptorium_sockets_open', 'Sockets of this process', read.open);
  gauge('scriptorium_socket_users', 'Users with sockets of this process', read.users);
  gauge(
    'scriptorium_socket_repairs_waiting',
    'Users and vaults waiting to be registered again',
    read.waiting,
  );
  gauge('scriptorium_socket_vaults', 'Shared vaults whose members have sockets of this process', read.vaults);
  return {
    upgrade: (outcome) => upgrades.inc({ outcome }),
    received: () => received.inc(),
    sent: (frames) => sent.inc(frames),
    closed: (reason) => closed.inc({ reason }),
    vaultAsked: (outcome) => vaults.inc({ outcome }),
    gap: () => gaps.inc(),
    repaired: (cause: RepairCause) => repairs.inc({ cause }),
  };
}
