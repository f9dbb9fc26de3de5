/** The host's own answers about an actor that it owns, to operators (`runtime/operations.ts`) and to wake-ups. */
import { z } from 'zod';
import type { ActiveActors } from '../actor/active-actors.ts';
import type { Actor } from '../actor/actor.ts';
import type { RunningTurn } from '../actor/turn.ts';
import { type Address, shardOf } from '../address.ts';
import {
  type BatchAnswers,
  type BatchRequest,
  batchReplySchema,
  batchRequestSchema,
} from '../batches/batch-answers.ts';
import type { Clock } from '../clock.ts';
import { keys, type Plans } from '../command.ts';
import type { CommandShapes } from '../contract.ts';
import { messageOutcome } from '../delivery/delivery.ts';
import type { TellDelivery } from '../delivery/tell-delivery.ts';
import { MovedError, TerminalError } from '../errors.ts';
import { missedSchema, type Publisher, renewalSchema } from '../events/publisher.ts';
import { type ActorRank, type ActorReport, type HostTop, operatorCommands } from '../operations.ts';
import { readRepeated } from '../read/read-repeated.ts';
import type { NodeRow, Store, TellRow } from '../store/store.ts';
import { outboxTable } from '../store/tables.ts';
import type { AskCall } from '../transport/transport.ts';

export const hostCommands = {
  ...operatorCommands,
  /** A wake-up: delivers a tell if its row is still there. Resolves when the tell needs nothing more for now. */
  $deliver: { request: z.object({ tellId: z.uuid() }), reply: z.null() },
  /** A gateway renews subscriptions to actors of one shard, and wakes none of them. */
  $renew: {
    request: z.object({
      gateway: z.string(),
      actors: z.array(z.object({ kind: z.string(), id: z.string() })),
    }),
    reply: renewalSchema,
  },
  /** A gateway has missed events of this host, and asks which actors they came from. */
  $missed: {
    request: z.object({ gateway: z.string(), after: z.int().nonnegative() }),
    reply: missedSchema,
  },
  /** Asks of many actors of one shard. Each reply has the position of its ask. */
  $askMany: { request: batchRequestSchema, reply: batchReplySchema },
} satisfies CommandShapes;
export type HostCommand = keyof typeof hostCommands;

export interface HostCommandsOptions {
  readonly actors: ActiveActors;
  readonly tells: TellDelivery;
  readonly publisher: Pick<Publisher, 'missed' | 'renew'>;
  readonly batches: Pick<BatchAnswers, 'answer'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly node: NodeRow;
  readonly shardCount: number;
  epochOf(shard: number): number | undefined;
}

export const isHostCommand = (command: string): command is HostCommand =>
  Object.hasOwn(hostCommands, command);

const noPlans: Plans = {};
const tellPlan = '$tell';

export class HostCommands {
  readonly #options: HostCommandsOptions;

  constructor(options: HostCommandsOptions) {
    this.#options = options;
  }

  /** @throws ActorError | StoreError */
  async run(command: HostCommand, call: AskCall): Promise<unknown> {
    const { address } = call;
    const epoch = this.#options.epochOf(shardOf(address, this.#options.shardCount));
    if (epoch === undefined) throw new MovedError('this host does not own the actor now');
    const request = hostCommands[command].request.safeParse(call.request);
    if (!request.success) throw new TerminalError(`the request of ${command} does not fit`);
    switch (command) {
      case '$inspect':
        return this.#inspect(address, epoch);
      case '$top':
        return this.#top(request.data as { by: ActorRank; limit: number });
      case '$evict':
        return this.#options.actors.evict(address);
      case '$deliver':
        return this.#deliver(address, (request.data as { tellId: string }).tellId);
      case '$renew': {
        const { actors, gateway } = request.data as { gateway: string; actors: readonly Address[] };
        return this.#options.publisher.renew(actors, gateway);
      }
      case '$missed': {
        const { gateway, after } = request.data as { gateway: string; after: number };
        return this.#options.publisher.missed(gateway, after);
      }
      case '$askMany':
        return this.#options.batches.answer(request.data as BatchRequest, call.deadlineMs);
      case '$reviveTimer':
        return this.#reviveTimer(call, (request.data as { name: string }).name);
      case '$reviveTell':
        return this.#reviveTell(call, (request.data as { tellId: string }).tellId);
    }
  }

  async #inspect(address: Address, epoch: number): Promise<ActorReport> {
    const { actors, clock, store, node, shardCount } = this.#options;
    const actor = actors.find(address);
    const [row, timers] = await Promise.all([store.head(address), store.timers(address)]);
    const phase = actor === undefined || actor.phase === 'gone' ? 'passive' : actor.phase;
    const dead = timers.filter((timer) => timer.dead).length;
    return {
      node: node.id,
      incarnation: node.incarnation,
      shard: shardOf(address, shardCount),
      epoch,
      phase,
      waitsFor: waitsFor(phase, actor?.atGate ?? 0),
      waiting: actor?.waiting ?? 0,
      atGate: actor?.atGate ?? 0,
      heldBytes: actor?.heldBytes ?? 0,
      idleMs: actor === undefined ? 0 : Math.round(clock.monotonicMs() - actor.lastUsedMs),
      version: row?.version,
      pendingTimers: timers.length - dead,
      deadTimers: dead,
    };
  }

  #top({ by, limit }: { by: ActorRank; limit: number }): HostTop {
    const actors = this.#options.actors.top(amountOf[by], limit).map((actor) => ({
      ...actor.address,
      heldBytes: actor.heldBytes,
      turns: actor.turns,
      waiting: actor.waiting,
      version: actor.version,
    }));
    return { node: this.#options.node.id, actors };
  }

  async #deliver(address: Address, tellId: string): Promise<null> {
    const { tells } = this.#options;
    const key = { target_kind: address.kind, target_id: address.id, tell_id: tellId };
    const [found] = await readRepeated(this.#options, [{ read: 'keys', table: outboxTable, keys: [key] }]);
    const row = found?.rows[0] as TellRow | undefined;
    if (row !== undefined && !row.dead) await tells.deliverNow(row);
    return null;
  }

  #reviveTimer(call: AskCall, name: string): Promise<unknown> {
    return this.#turn(call, noPlans, (turn) => {
      const timer = turn.armed(name);
      if (timer?.dead !== true) return false;
      turn.keepTimer({ ...timer, attempts: 0, dead: false, due_at: turn.nowMs });
      return true;
    });
  }

  #reviveTell(call: AskCall, tellId: string): Promise<unknown> {
    const key = { target_kind: call.address.kind, target_id: call.address.id, tell_id: tellId };
    return this.#turn(call, { [tellPlan]: keys(outboxTable, [key]) }, (turn, results) => {
      const row = (results[tellPlan] as { get(key: object): TellRow | undefined }).get(key);
      if (row?.dead !== true) return false;
      turn.keepTell({ ...row, attempts: 0, dead: false, retry_at: turn.nowMs });
      return true;
    });
  }

  async #turn(
    { address, command, deadlineMs }: AskCall,
    plans: Plans,
    work: (turn: RunningTurn, results: Record<string, unknown>) => boolean,
  ): Promise<unknown> {
    const outcome = await messageOutcome((resolve) =>
      this.#options.actors.deliver(address, {
        what: `${address.kind}.${command}`,
        creates: false,
        reachesTombstone: true,
        deadlineMs,
        plans: () => plans,
        run: (turn, made, answers) => work(turn, turn.results(made, answers) as Record<string, unknown>),
        resolve,
      }),
    );
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }
}

const amountOf: Readonly<Record<ActorRank, (actor: Actor) => number>> = {
  bytes: (actor) => actor.heldBytes,
  turns: (actor) => actor.turns,
  waiting: (actor) => actor.waiting,
};

function waitsFor(phase: ActorReport['phase'], atGate: number): ActorReport['waitsFor'] {
  if (phase === 'activating') return 'activation';
  if (phase === 'settling') return 'outcome';
  return atGate > 0 ? 'commit' : 'nothing';
}
