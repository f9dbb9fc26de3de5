/** Planted bugs of actors: their turns, commits, reads, timers, tells and jobs. */
import type { PlantedBug } from '../plant.ts';

export const bugs: readonly PlantedBug[] = [
  {
    name: 'activation-ignores-epoch',
    why: 'An older owner may activate an actor that a newer one holds.',
    flavour: 'crashy',
    from: 64,
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: "    if (row !== undefined && row.epoch > epoch) return { outcome: 'fenced' };\n",
        replace: '',
      },
      {
        file: 'test/kit/model-store/model-database.ts',
        find: "    if (isFormerOwner) return { outcome: 'fenced' };\n",
        replace: '',
      },
    ],
  },
  {
    name: 'activation-reads-before-barrier',
    why: 'The state is read before the barrier was answered, so the old owner may still commit.',
    flavour: 'crashy',
    from: 199,
    edits: [
      {
        file: 'runtime/actor/activation.ts',
        find: '  const activation = await store.activate(address, shard, epoch, create);\n',
        replace:
          '  const [slices, timers] = await Promise.all([store.slices(address), store.timers(address)]);\n  const activation = await store.activate(address, shard, epoch, create);\n',
      },
      {
        file: 'runtime/actor/activation.ts',
        find: 'return activation.outcome;\n  const [slices, timers] = await Promise.all([store.slices(address), store.timers(address)]);\n',
        replace: 'return activation.outcome;\n',
      },
    ],
  },
  {
    name: 'barrier-keeps-version',
    why: 'The barrier does not take the row on, so a late commit still finds it.',
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: '    const bumped = { ...row, version: row.version + 1 };',
        replace: '    const bumped = { ...row };',
      },
    ],
  },
  {
    name: 'batch-never-halved',
    why: 'A batch with a defect is sent again and again as a whole.',
    from: 902,
    edits: [
      {
        file: 'runtime/commit/committer.ts',
        find: '    const half = Math.ceil(members.length / 2);',
        replace: '    const half = members.length;',
      },
    ],
  },
  {
    name: 'failed-turn-leaves-writes',
    why: 'A turn that throws leaves what it had written.',
    edits: [
      {
        file: 'runtime/actor/actor.ts',
        find: "    if ('error' in outcome || isEmpty(turn.recorded)) this.#hold(entry, outcome);",
        replace: '    if (isEmpty(turn.recorded)) this.#hold(entry, outcome);',
      },
    ],
  },
  {
    name: 'fenced-reported-as-applied',
    why: 'A commit that the fence rejected is reported as committed.',
    from: 8,
    edits: [
      {
        file: 'runtime/commit/committer.ts',
        find: '        else member.actor.fenced();',
        replace: '        else member.actor.committed();',
      },
    ],
  },
  {
    name: 'job-begun-before-durable',
    why: 'A run begins when the commit of its start is sent, so a crash leaves work that nobody asked for.',
    edits: [
      {
        file: 'runtime/actor/actor.ts',
        find: '    const pending = this.#gate.launch(commitId);\n',
        replace:
          '    const pending = this.#gate.launch(commitId);\n    this.#env.jobsCommitted(this.address, this.#jobsOf(pending));\n',
      },
    ],
  },
  {
    name: 'job-finished-and-kept',
    why: 'A job that is done keeps its row, so it is done again.',
    edits: [
      {
        file: 'runtime/jobs/jobs.ts',
        find: '        if (next === undefined) turn.disarm(row);\n        else turn',
        replace: '        if (next !== undefined) turn',
      },
    ],
  },
  {
    name: 'job-finished-in-two-commits',
    why: "A job's result and the end of its row are two commits: a crash between them does it twice.",
    edits: [
      {
        file: 'runtime/jobs/jobs.ts',
        find: '        if (next === undefined) turn.disarm(row);\n        else turn.keepTimer(next);\n        step?.turn(turn, reads as never);\n      });\n',
        replace:
          '        step?.turn(turn, reads as never);\n        if (next !== undefined) turn.keepTimer(next);\n      });\n      await this.#try(held, (turn, row) => turn.disarm(row));\n',
      },
    ],
  },
  {
    name: 'job-lease-not-in-commit',
    why: "A job's row is kept in memory alone: nobody knows of the job once its host has died.",
    edits: [
      {
        file: 'runtime/actor/gate.ts',
        find: '    for (const [name, timer] of this.timers) writes.push(',
        replace:
          "    for (const [name, timer] of this.timers)\n      if (!name.startsWith('$job.')) writes.push(",
      },
    ],
  },
  {
    name: 'job-start-forgotten',
    why: 'What was started while a run was in flight is forgotten with that run.',
    from: 6,
    edits: [
      {
        file: 'runtime/jobs/lease.ts',
        find: '  return leaseOf(row).next === undefined ? undefined : leased(row, grant);\n',
        replace: '  return leaseOf(row).token === grant.token ? leased(row, grant) : undefined;\n',
      },
    ],
  },
  {
    name: 'job-stopped-goes-on',
    why: 'A run whose job was stopped, and has no row any more, still takes its turns.',
    from: 51,
    edits: [
      {
        file: 'runtime/jobs/jobs.ts',
        find: '          if (row === undefined || tokenOf(row) !== held.token) throw new LostLeaseError();\n',
        replace:
          '          if (row !== undefined && tokenOf(row) !== held.token) throw new LostLeaseError();\n',
      },
    ],
  },
  {
    name: 'job-token-not-checked',
    why: 'The result of a run counts although another run has taken the job over.',
    edits: [
      {
        file: 'runtime/jobs/jobs.ts',
        find: '          if (row === undefined || tokenOf(row) !== held.token) throw new LostLeaseError();\n',
        replace: '          if (row === undefined) throw new LostLeaseError();\n',
      },
    ],
  },
  {
    name: 'jobs-share-their-slots',
    why: 'Runs that hang on one service delay every other job of the host.',
    flavour: 'troubled',
    edits: [
      {
        file: 'runtime/jobs/jobs.ts',
        find: '  #slotsOf(what: string): Slots {\n',
        replace: "  #slotsOf(_what: string): Slots {\n    const what = 'any';\n",
      },
    ],
  },
  {
    name: 'lease-not-checked-after-read',
    why: 'A read that took longer than the lease is answered all the same.',
    flavour: 'sleepy',
    from: 260,
    edits: [
      {
        file: 'runtime/host/dispatcher.ts',
        find: '      this.#assertLease();\n    }\n    metrics.turn',
        replace: '    }\n    metrics.turn',
      },
    ],
  },
  {
    name: 'no-fence',
    why: "A commit is applied whatever epoch and version its actor's row has.",
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: '    return row !== undefined && row.epoch === epoch && row.version === version;',
        replace: '    return row !== undefined && (row.epoch !== epoch || row.version !== version || true);',
      },
    ],
  },
  {
    name: 'outbox-row-deleted-too-early',
    why: "A tell's row is removed before, and not with, the commit of its effects.",
    edits: [
      {
        file: 'runtime/delivery/tell-delivery.ts',
        find: '    const outcome = await this.#turn(tell, handler, (turn, row, reads) => {',
        replace:
          "    const early = { row: undefined as TellRow | undefined };\n    await this.#turn(tell, undefined, (turn, row) => {\n      early.row = row;\n      turn.consume(row);\n    });\n    if (early.row === undefined) return metrics.delivered('tell', 'dropped');\n    const found = early.row;\n    const outcome = await this.#turn(tell, handler, (turn, _row, reads) => {\n      const row = found;",
      },
      {
        file: 'runtime/delivery/tell-delivery.ts',
        find: "      if (row === undefined) return 'dropped';\n      work(turn, row, results as never);",
        replace:
          "      if (row === undefined && handler === undefined) return 'dropped';\n      work(turn, row as TellRow, results as never);",
      },
    ],
  },
  {
    name: 'overlay-dropped-too-early',
    why: 'A row leaves memory with its commit though a read begun before is still to be used.',
    from: 45,
    edits: [
      {
        file: 'runtime/actor/rows.ts',
        find: '    if (entry.commit > oldestRead) this.#exceeds = true;',
        replace: '    if (entry.commit < 0) this.#exceeds = true;',
      },
    ],
  },
  {
    name: 'own-uuid-told-as-taken',
    why: 'A new item whose uuid the saver’s own collection holds is told as another’s.',
    edits: [
      {
        file: 'actors/collection/save.ts',
        find: '  const refused = access(saver, sent, rowHere);\n',
        replace:
          "  if (stored !== undefined && sent.updated_at_timestamp === 0) return conflict(refusal('uuid_conflict', sent, saver.userUuid));\n  const refused = access(saver, sent, rowHere);\n",
      },
    ],
  },
  {
    name: 'panic-taken-as-refusal',
    why: 'The code of an error is believed whatever its severity: a server that ended may have committed first.',
    edits: [
      {
        file: 'runtime/store/postgres/errors.ts',
        find: '!isAnswer(error) || ',
        replace: '',
      },
    ],
  },
  {
    name: 'read-given-up-not-repeated',
    why: 'A read that the database gives up (40001) fails its caller, although it would succeed at once.',
    flavour: 'troubled',
    edits: [
      {
        file: 'runtime/read/read-repeated.ts',
        find: 'const conflictsMax = 12;',
        replace: 'const conflictsMax = 0;',
      },
    ],
  },
  {
    name: 'read-not-gated',
    why: 'An answer that has seen speculative state does not wait for the commit that carries it.',
    edits: [
      {
        file: 'runtime/actor/actor.ts',
        find: '    if (!this.#gate.hold({ queued: entry, outcome })) this.#answer(entry, outcome);',
        replace: '    this.#answer(entry, outcome);',
      },
    ],
  },
  {
    name: 'read-slot-leaked',
    why: 'A batch of reads that fails keeps its slot for ever.',
    edits: [
      {
        file: 'runtime/read/reader.ts',
        find: '      for (const { reject } of waiting) reject(error);',
        replace: '      this.#inFlight += 1;\n      for (const { reject } of waiting) reject(error);',
      },
    ],
  },
  {
    name: 'read-tickets-never-ended',
    why: 'Rows are kept for reads that were used long ago.',
    edits: [
      {
        file: 'runtime/actor/mailbox.ts',
        find: '    if (entry.reads?.ticket !== undefined) this.#options.rows.end(entry.reads.ticket);',
        replace: '    void entry;',
      },
    ],
  },
  {
    name: 'ready-actor-dropped',
    why: 'An actor that does not fit into a batch is not ready any more, and its commit is never sent.',
    from: 18,
    edits: [
      {
        file: 'runtime/commit/committer.ts',
        find: 'if (members.length > 0 && bytes + actor.pendingBytes > batchBytesMax) continue;',
        replace:
          'if (members.length > 0 && bytes + actor.pendingBytes > batchBytesMax) {\n        this.#ready.delete(actor);\n        continue;\n      }',
      },
    ],
  },
  {
    name: 'recorded-call-not-recorded',
    why: 'The reply of a call that must not take effect twice is not kept.',
    edits: [
      {
        file: 'runtime/actor/message.ts',
        find: '      if (!isEmpty(turn.recorded)) {',
        replace: '      if (!isEmpty(turn.recorded) && turn.nowMs < 0) {',
      },
    ],
  },
  {
    name: 'rejected-reported-as-applied',
    why: 'A commit that was rejected for a taken key is reported as committed.',
    edits: [
      {
        file: 'runtime/commit/committer.ts',
        find: 'member.actor.rejected(conflicting);',
        replace: 'member.actor.committed();',
      },
    ],
  },
  {
    name: 'removed-with-state',
    why: 'An actor that was without state once counts as ended for ever, and goes with what it has got since.',
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: 'const endedAtMs = ends === true ? this.timeMs() : undefined;',
        replace: 'const endedAtMs = ends === true ? this.timeMs() : stored?.endedAtMs;',
      },
      {
        file: 'test/kit/model-store/model-database.ts',
        find: '    if (hasState) {',
        replace: '    if (hasState && this.#epoch < 0) {',
      },
    ],
  },
  {
    name: 'repeat-told-as-conflict',
    why: 'A save that is sent again because its answer was lost is a conflict with itself.',
    from: 23,
    edits: [
      {
        file: 'actors/collection/save.ts',
        find: 'rowHere?.fingerprint.equals(fingerprint) &&',
        replace: 'rowHere?.fingerprint.equals(Buffer.of()) &&',
      },
    ],
  },
  {
    name: 'repeats-counted-for-ever',
    why: 'A caller that waits to repeat a call counts for ever, and in the end nobody may.',
    from: 5,
    edits: [
      {
        file: 'runtime/host/actors.ts',
        find: '    this.#waiting -= 1;\n',
        replace: '',
      },
    ],
  },
  {
    name: 'replaced-pair-dropped',
    why: 'A refresh whose answer was lost locks its client out.',
    from: 89,
    edits: [
      {
        file: 'actors/user/sessions/refresh.ts',
        find: '  return { ...session, replaced: [...remaining, { ...session.current, replacedAtMs: nowMs }] };',
        replace: '  return { ...session, replaced: [...remaining] };',
      },
    ],
  },
  {
    name: 'reply-before-commit',
    why: 'A reply leaves before the commit it rests on, so a crash takes back what a client was told.',
    edits: [
      {
        file: 'runtime/actor/actor.ts',
        find: '    this.#held.overlay(recorded, commit);\n',
        replace: '    this.#held.overlay(recorded, commit);\n    this.#answer(entry, outcome);\n',
      },
    ],
  },
  {
    name: 'rerun-on-speculative-rows',
    why: 'Turns run again on rows that never became durable.',
    edits: [
      {
        file: 'runtime/actor/actor-state.ts',
        find: '    this.rows.revert(this.durableCommit);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'rerun-on-speculative-state',
    why: 'Turns run again on what the rejected or lost commit had written.',
    edits: [
      {
        file: 'runtime/actor/actor-state.ts',
        find: '    this.slices.revert();\n',
        replace: '',
      },
    ],
  },
  {
    name: 'revision-of-what-came-after',
    why: 'The history says what the item says now, and what it said before is lost.',
    edits: [
      {
        file: 'actors/collection/revisions/keep.ts',
        find: 'archiveRevision(turn, replaced)',
        replace: 'archiveRevision(turn, { ...replaced, content: row.content })',
      },
    ],
  },
  {
    name: 'shared-read-counted-for-ever',
    why: 'Shared reads count after they were answered, and in the end an actor may have none.',
    edits: [
      {
        file: 'runtime/read/reader.ts',
        find: '      count(this.#sharedOf, actor, -1);',
        replace: '      void 0;',
      },
    ],
  },
  {
    name: 'stuck-sent-along',
    why: 'An actor whose commits are never finished takes others along every time.',
    flavour: 'sticky',
    from: 45,
    edits: [
      {
        file: 'runtime/commit/committer.ts',
        find: '    const isUnbatched = this.#stuck.has(actor);',
        replace: '    const isUnbatched = this.#stuck.has(actor) && actor.waiting < 0;',
      },
    ],
  },
  {
    name: 'tell-not-looked-up',
    why: 'A tell is consumed as it was offered, without looking whether its row is still there before the turn.',
    from: 29,
    edits: [
      {
        file: 'runtime/delivery/tell-delivery.ts',
        find: "      if (row === undefined) return 'dropped';\n      work(turn, row, results as never);",
        replace: '      work(turn, row ?? tell, results as never);',
      },
    ],
  },
  {
    name: 'tell-removal-in-flight-not-seen',
    why: 'A tell whose removal is at the gate is consumed again.',
    edits: [
      {
        file: 'runtime/actor/turn.ts',
        find: '        if (cached !== undefined) return cached.row === removed ? undefined : (cached.row as never);',
        replace: '        if (cached !== undefined && cached.row !== removed) return cached.row as never;',
      },
      {
        file: 'runtime/delivery/in-flight.ts',
        find: '    if (this.isFull || this.#keys.has(key)) return false;',
        replace: '    if (this.isFull) return false;',
      },
    ],
  },
  {
    name: 'timer-compared-by-name',
    why: 'A timer that was moved still fires at its old time.',
    edits: [
      {
        file: 'runtime/delivery/timer-delivery.ts',
        find: "if (!isCurrent(turn, row)) return 'dropped';\n      handler.turn(",
        replace: "if (turn.armed(row.name) === undefined) return 'dropped';\n      handler.turn(",
      },
    ],
  },
  {
    name: 'timer-early',
    why: 'Due times are judged by asking for what falls due soon.',
    edits: [
      {
        file: 'runtime/delivery/timer-delivery.ts',
        find: '    return this.options.store.dueTimers(sweep);',
        replace: '    return this.options.store.dueTimers({ ...sweep, untilMs: sweep.untilMs + 200 });',
      },
    ],
  },
  {
    name: 'timer-list-not-read',
    why: "A due row is run without a look at the actor's own list.",
    edits: [
      {
        file: 'runtime/delivery/timer-delivery.ts',
        find: "      if (!isCurrent(turn, row)) return 'dropped';\n      handler.turn(",
        replace: '      handler.turn(',
      },
    ],
  },
  {
    name: 'timers-not-loaded',
    why: 'An activation forgets the timers that were armed before it.',
    edits: [
      {
        file: 'runtime/actor/actor-state.ts',
        find: '    for (const timer of loaded.timers) this.timers.load(timer.name, timer);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'token-from-later-head',
    why: 'A shared read takes its token from the head after its rows were read.',
    edits: [
      {
        file: 'runtime/host/dispatcher.ts',
        find: 'new Map(actor.durableSlices)',
        replace: 'actor.durableSlices',
      },
    ],
  },
  {
    name: 'token-from-speculative-head',
    why: 'A shared read is bounded by a head that is not durable yet.',
    edits: [
      {
        file: 'runtime/actor/actor.ts',
        find: '    return this.#held.slices.durable;',
        replace:
          '    return new Map([...this.#held.slices.keys()].map((name) => [name, this.#held.slices.get(name)]));',
      },
    ],
  },
  {
    name: 'token-skips-cut-page',
    why: 'A page that was cut gives the token of the head.',
    edits: [
      {
        file: 'actors/collection/sync-steps.ts',
        find: '  end: page.reached,',
        replace: '  end: view.get(head).position,',
      },
    ],
  },
  {
    name: 'unknown-code-taken-as-defect',
    why: 'A commit that failed with a code that nobody knows is taken for one that was not applied.',
    edits: [
      {
        file: 'runtime/store/postgres/errors.ts',
        find: "failureByClass[code.slice(0, 2)] ?? 'unknown'",
        replace: "failureByClass[code.slice(0, 2)] ?? 'defect'",
      },
    ],
  },
  {
    name: 'unknown-settled-by-read',
    why: 'The outcome of a lost commit is settled by a read, after which it may still be applied.',
    edits: [
      {
        file: 'runtime/commit/settlement.ts',
        find: '  const row = await store.barrier(address, epoch);',
        replace: '  const row = await store.head(address);',
      },
    ],
  },
  {
    name: 'unknown-taken-as-failed',
    why: 'A commit whose answer was lost is taken for one that was not applied.',
    edits: [
      {
        file: 'runtime/commit/committer.ts',
        find: 'void actor.unknown();',
        replace: "actor.failed(new UnavailableError('the database cannot take this now'));",
      },
    ],
  },
  {
    name: 'versions-begin-anew',
    why: 'An actor whose row was removed begins with versions it had before: a commit from then finds them.',
    from: 10,
    edits: [
      {
        file: 'test/kit/model-store/model-database.ts',
        find: '    this.#versionFloor = Math.max(this.#versionFloor, row.version + 1);',
        replace: '    this.#versionFloor = Math.min(this.#versionFloor, row.version + 1);',
      },
    ],
  },
  {
    name: 'wake-before-commit',
    why: 'A tell is announced as soon as its turn has run.',
    edits: [
      {
        file: 'runtime/actor/actor.ts',
        find: '    const pending = this.#gate.launch(commitId);\n',
        replace:
          '    const pending = this.#gate.launch(commitId);\n    this.#env.tellsCommitted(pending.tellRows(this.#version + 1));\n',
      },
    ],
  },
  {
    name: 'workflow-slot-leaked',
    why: 'A call of several steps that fails keeps its slot for ever.',
    edits: [
      {
        file: 'runtime/host/workflows.ts',
        find: '      return await run(this.#workflow(call, creates, dependencies, progress));',
        replace:
          '      const result = await run(this.#workflow(call, creates, dependencies, progress));\n      this.#inFlight -= 1;\n      return result;',
      },
      {
        file: 'runtime/host/workflows.ts',
        find: '    } finally {\n      this.#inFlight -= 1;\n    }',
        replace: '    }',
      },
    ],
  },
];
