import type { Registry } from 'prom-client';
import { meterOf } from '../../../runtime/meter.ts';
import type { CommandAnswer } from './commands.ts';

/** Why an upgrade was refused over HTTP. */
export type UpgradeRefusal =
  | ('access-key' | 'connection' | 'disabled' | 'draining' | 'full')
  | ('origin' | 'query' | 'rate-limit');

export interface LaneMetrics {
  refused(reason: UpgradeRefusal): void;
  opened(): void;
  closed(reason: string): void;
  answered(type: string, answer: CommandAnswer): void;
}

/** Labels are types, codes and reasons of the protocol, never ids. */
export function prometheusLaneMetrics(
  registry: Registry,
  read: Readonly<Record<'sockets' | 'bytes', () => number>>,
): LaneMetrics {
  const { counter, gauge } = meterOf(registry);
  const opened = counter(
    'scriptorium_sync_lane_opened_total',
    'Sockets of the sync lane that a ticket has let in',
  );
  const refused = counter(
    'scriptorium_sync_lane_refused_total',
    'Upgrades to the sync lane that were refused, by reason',
    ['reason'],
  );
  const closed = counter(
    'scriptorium_sync_lane_closed_total',
    'Sockets of the sync lane that the server has closed, by reason',
    ['reason'],
  );
  const answered = counter(
    'scriptorium_sync_lane_answers_total',
    'Commands and questions about them that were answered, by type of frame and of answer',
    ['frame', 'answer'],
  );
  gauge(
    'scriptorium_sync_lane_sockets',
    'Sockets of the sync lane of this process, those not yet let in included',
    read.sockets,
  );
  gauge(
    'scriptorium_sync_lane_held_bytes',
    'Bytes of waiting commands and unread answers of the sync lane',
    read.bytes,
  );
  return {
    refused: (reason) => refused.inc({ reason }),
    opened: () => opened.inc(),
    closed: (reason) => closed.inc({ reason }),
    answered: (frame, { type }) => answered.inc({ frame, answer: type }),
  };
}
