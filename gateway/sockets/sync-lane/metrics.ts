import { Counter, Gauge, type Registry } from 'prom-client';
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
  const registers = [registry];
  const opened = new Counter({
    name: 'scriptorium_sync_lane_opened_total',
    help: 'Sockets of the sync lane that a ticket has let in',
    registers,
  });
  const refused = new Counter({
    name: 'scriptorium_sync_lane_refused_total',
    help: 'Upgrades to the sync lane that were refused, by reason',
    labelNames: ['reason'],
    registers,
  });
  const closed = new Counter({
    name: 'scriptorium_sync_lane_closed_total',
    help: 'Sockets of the sync lane that the server has closed, by reason',
    labelNames: ['reason'],
    registers,
  });
  const answered = new Counter({
    name: 'scriptorium_sync_lane_answers_total',
    help: 'Commands and questions about them that were answered, by type of frame and of answer',
    labelNames: ['frame', 'answer'],
    registers,
  });
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
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
