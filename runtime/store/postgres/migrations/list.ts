/** The tables of the runtime itself, change by change (see `runtime/migration.ts`). */
import type { Migration } from '../../../migration.ts';
import { node } from './0001-node.ts';
import { shard } from './0002-shard.ts';
import { counter } from './0003-counter.ts';
import { actor } from './0004-actor.ts';
import { setting } from './0005-setting.ts';
import { nodeDraining } from './0006-node-draining.ts';
import { nodeConnected } from './0007-node-connected.ts';
import { slice } from './0008-slice.ts';
import { timer } from './0009-timer.ts';
import { outbox } from './0010-outbox.ts';
import { call } from './0011-call.ts';
import { timerDue } from './0012-timer-due.ts';
import { outboxPending } from './0013-outbox-pending.ts';
import { callAge } from './0014-call-age.ts';
import { actorEnded } from './0015-actor-ended.ts';
import { actorByEnd } from './0016-actor-by-end.ts';
import { shardByIncarnation } from './0017-shard-by-incarnation.ts';
import { timerGarbage } from './0018-timer-garbage.ts';
import { outboxGarbage } from './0019-outbox-garbage.ts';
import { callGarbage } from './0020-call-garbage.ts';
import { sliceGarbage } from './0021-slice-garbage.ts';
import { actorGarbage } from './0022-actor-garbage.ts';
import { nodeGarbage } from './0023-node-garbage.ts';

export const runtimeMigrations: readonly Migration[] = [
  node,
  shard,
  counter,
  actor,
  setting,
  nodeDraining,
  nodeConnected,
  slice,
  timer,
  outbox,
  call,
  timerDue,
  outboxPending,
  callAge,
  actorEnded,
  actorByEnd,
  shardByIncarnation,
  timerGarbage,
  outboxGarbage,
  callGarbage,
  sliceGarbage,
  actorGarbage,
  nodeGarbage,
];
