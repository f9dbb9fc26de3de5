/** Planted bugs of the cluster: leases, ownership, and calls between hosts. */
import type { PlantedBug } from '../plant.ts';

export const bugs: readonly PlantedBug[] = [
  {
    name: 'actor-of-former-epoch',
    why: 'An actor that was activated under a former epoch goes on under the next.',
    flavour: 'cluster',
    from: 912,
    edits: [
      {
        file: 'runtime/actor/active-actors.ts',
        find: '      if (this.#options.epochOf(present.shard) !== present.epoch) throw movedError();\n',
        replace: '',
      },
    ],
  },
  {
    name: 'adopted-for-ever',
    why: 'Adopted shards do not go back to their host though it has started again.',
    flavour: 'crashy',
    from: 1_325,
    edits: [
      {
        file: 'runtime/ownership/membership.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
        find: '`${id} ${incarnation} ${formats}`',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
        replace: '`${id} ${incarnation?.length} ${formats}`',
      },
    ],
  },
  {
    name: 'copy-runs-at-the-next-owner',
    why: 'A late copy of a call runs at the next owner, and the one before has promised that nothing took effect.',
    flavour: 'cluster',
    from: 13,
    edits: [
      {
        file: 'runtime/transport/owner-epochs.ts',
        find: 'named === undefined || named === own',
        replace: 'named !== 0',
      },
      // Harmless, as a message may be as slow as that. Only copies for others than the owner are.
      {
        file: 'test/simulation/endpoint.ts',
        find: 'target.#arrived(this, token, call, remainingMs));\n',
        replace: 'target.#arrived(this, token, call, remainingMs), target === targets[0] ? 0 : 2_500);\n',
      },
      // So are mailboxes that are soon full.
      {
        file: 'test/simulation/plan.ts',
        find: '      ...limitsOf(random),\n',
        replace: '      ...limitsOf(random),\n      mailboxMax: 2,\n',
      },
    ],
  },
  {
    name: 'ended-start-goes-on',
    why: 'A host that was ended while it started goes on with its start.',
    flavour: 'sleepy',
    from: 129,
    edits: [
      {
        file: 'runtime/host/host.ts',
        find: '    this.#assertNotEnded();\n    this.#timers.start();',
        replace: '    this.#timers.start();',
      },
    ],
  },
  {
    name: 'ended-start-keeps-its-lease',
    why: 'A host that is to end while it starts leaves its lease behind: its shards stay unserved until that ends.',
    flavour: 'planned',
    from: 2_300_757,
    edits: [
      {
        file: 'runtime/host/host.ts',
        find: "    if (this.#state === 'draining' || this.#state === 'ended') return this.abandon();\n",
        replace: "    if (this.#state !== 'serving') return this.abandon();\n",
      },
    ],
  },
  {
    name: 'former-owner-believed',
    why: 'What a former owner refuses is taken as the whole truth, though the next owner had the call too.',
    flavour: 'cluster',
    edits: [
      {
        file: 'runtime/host/actors.ts',
        find: '    return error instanceof FencedError || (error instanceof MovedError && !error.reachedNobody);\n',
        replace: '    return false;\n',
      },
    ],
  },
  {
    name: 'hint-trusted',
    why: 'What a hint says to be free is taken without asking the database.',
    flavour: 'cluster',
    from: 25,
    edits: [
      {
        file: 'runtime/ownership/ownership.ts',
        find: '    const isForAll = hint.hint ===',
        replace:
          "    if (hint.hint === 'freed') {\n      const epoch = Math.max(0, ...this.#epochs.values()) + 1;\n      this.#take({ shards: hint.shards.filter((shard) => this.#belongsHere(shard)), epoch });\n    }\n    const isForAll = hint.hint ===",
      },
    ],
  },
  {
    name: 'lapsed-host-listens',
    why: 'A host that has lost its lease answers "moved" sooner than the new owner replies, and its former users wait.',
    flavour: 'troubled',
    edits: [
      {
        file: 'runtime/ownership/ownership.ts',
        find: '    this.#options.transport.unroute(this.shards);\n',
        replace: '',
      },
      {
        file: 'runtime/ownership/ownership.ts',
        find: '    this.#options.transport.unroute(disputed);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'lease-by-monotonic-clock',
    why: 'A machine that slept takes its lease for valid.',
    flavour: 'sleepy',
    edits: [
      {
        file: 'runtime/ownership/lease.ts',
        find: ' &&\n      clock.nowMs() < this.#validUntilWallMs',
        replace: '',
      },
    ],
  },
  {
    name: 'lease-from-the-answer',
    why: 'The lease counts from when the renewal was answered.',
    flavour: 'sleepy',
    edits: [
      {
        file: 'runtime/ownership/lease.ts',
        find: '    this.#validUntilMonotonicMs = sentMonotonicMs + usableMs;\n    this.#validUntilWallMs = sentWallMs + usableMs;',
        replace:
          '    void sentMonotonicMs;\n    void sentWallMs;\n    this.#validUntilMonotonicMs = clock.monotonicMs() + usableMs;\n    this.#validUntilWallMs = clock.nowMs() + usableMs;',
      },
    ],
  },
  {
    name: 'lease-not-checked',
    why: 'A host answers from memory after its lease has lapsed.',
    flavour: 'sleepy',
    edits: [
      {
        file: 'runtime/ownership/lease.ts',
        find: '      this.isClockRight &&\n      clock.monotonicMs() < this.#validUntilMonotonicMs &&\n      clock.nowMs() < this.#validUntilWallMs',
        replace: '      this.isClockRight && clock.nowMs() > 0',
      },
    ],
  },
  {
    name: 'leave-of-any-incarnation',
    why: 'A supervisor that is late gives up the lease of the process that has followed.',
    flavour: 'crashy',
    from: 4,
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: '    if (lease?.incarnation !== incarnation) return;\n    const expiresAtMs',
        replace: "    if (lease === undefined || incarnation === '') return;\n    const expiresAtMs",
      },
    ],
  },
  {
    name: 'leaving-shard-served',
    why: 'A shard that is on its way out is served until it is gone.',
    flavour: 'cluster',
    edits: [
      {
        file: 'runtime/ownership/ownership.ts',
        find: '    return this.#epochs.get(shard);\n',
        replace: '    return this.#epochs.get(shard) ?? this.#handOver.epochOf(shard);\n',
      },
      {
        file: 'runtime/ownership/hand-over.ts',
        find: '  has(shard: number): boolean {',
        replace:
          '  epochOf(shard: number): number | undefined {\n    return this.#leaving.get(shard);\n  }\n\n  has(shard: number): boolean {',
      },
    ],
  },
  {
    name: 'never-ready',
    why: 'A host whose shards others adopted is never ready.',
    from: 135,
    edits: [
      {
        file: 'runtime/ownership/ownership.ts',
        find: ' || this.#hasWaitedToJoin;',
        replace: ' || (this.#hasWaitedToJoin && this.#ended);',
      },
    ],
  },
  {
    name: 'predecessor-not-awaited',
    why: 'A host takes over from a predecessor of its name that may still answer from memory.',
    flavour: 'sleepy',
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: '    if (isAnother && heldForMs >= 0 && !isPredecessorDead) return Math.max(1, heldForMs);\n',
        replace:
          '    if (isAnother && heldForMs >= leaseMs && !isPredecessorDead) return Math.max(1, heldForMs);\n',
      },
    ],
  },
  {
    name: 'release-frees-others',
    why: 'A release that comes late frees what another host has claimed.',
    flavour: 'cluster',
    from: 4,
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: '      if (row?.incarnation === incarnation && row.epoch === epoch)',
        replace: '      if (row !== undefined && epoch > 0)',
      },
    ],
  },
  {
    name: 'release-while-busy',
    why: 'Shards are released while turns and commits of theirs are in flight.',
    flavour: 'planned',
    from: 328,
    edits: [
      {
        file: 'runtime/ownership/hand-over.ts',
        find: '    await quiesce(new Set(shards), quiesceMs);\n',
        replace: '    void quiesce(new Set(shards), quiesceMs);\n',
      },
    ],
  },
  {
    name: 'release-without-epoch',
    why: 'A release that comes late frees what the same host has claimed again.',
    flavour: 'cluster',
    from: 87,
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: '      if (row?.incarnation === incarnation && row.epoch === epoch)',
        replace: '      if (row?.incarnation === incarnation && epoch > 0)',
      },
    ],
  },
  {
    name: 'repeat-under-new-call-id',
    why: 'A call is repeated as another call.',
    flavour: 'partitioned',
    edits: [
      {
        file: 'runtime/host/actors.ts',
        find: '        return await transport.ask(call);\n',
        replace: '        return await transport.ask({ ...call, callId: this.#options.random.uuid() });\n',
      },
    ],
  },
  {
    name: 'silence-taken-for-death',
    why: 'A supervisor gives up a process that stands still, and will go on.',
    flavour: 'sleepy',
    from: 4,
    edits: [
      {
        file: 'test/simulation/machines.ts',
        find: '    process.pause(suspended);\n',
        replace:
          '    process.pause(suspended);\n    this.#supervisors.died(run.machine.id, run.store.incarnation);\n',
      },
    ],
  },
  {
    name: 'supervisor-names-whoever-is-there',
    why: 'A supervisor gives up whatever incarnation its node has by then.',
    flavour: 'crashy',
    from: 4,
    edits: [
      {
        file: 'test/simulation/supervisors.ts',
        find: '.leave(machine, incarnation);',
        replace:
          '.leave(machine, database.nodes().find(({ id }) => id === machine)?.incarnation ?? incarnation);',
      },
    ],
  },
  {
    name: 'unknown-told-as-nothing',
    why: 'A call is told to have had no effect after an attempt whose outcome is unknown.',
    flavour: 'partitioned',
    edits: [
      {
        file: 'runtime/host/actors.ts',
        find: '  if (mayHaveEffect && promisesNothing(error))',
        replace: '  if (mayHaveEffect && promisesNothing(error) && error === undefined)',
      },
    ],
  },
];
