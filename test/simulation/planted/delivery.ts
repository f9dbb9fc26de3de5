/** Planted bugs of mails and messages to people. */
import type { PlantedBug } from '../plant.ts';

export const bugs: readonly PlantedBug[] = [
  {
    name: 'check-in-lost',
    why: 'What became of the mail of an earlier deadline is written over a check-in that came meanwhile.',
    flavour: 'delivery',
    from: 49,
    edits: [
      {
        file: 'actors/user/switches/watch.ts',
        find: "const before = schedule.find(turn, uuid, round);\n  if (before?.state !== 'queued')",
        replace: 'const before = turn.entry(switchMap, uuid);\n  if (before === undefined || round === 0)',
      },
    ],
  },
  {
    name: 'mail-sent-before-commit',
    why: 'A message leaves before it is durable that it does, so after a crash it is sent once more.',
    flavour: 'delivery',
    edits: [
      {
        file: 'actors/mailer/deliver.ts',
        find: `    handOver: () =>
      run.turn({
        reads: (view) => leasedPlan(view, worker),
        turn: (turn, reads) => handOver(turn, worker, reads),
      }),
`,
        replace: `    handOver: async () =>
      void run
        .turn({
          reads: (view) => leasedPlan(view, worker),
          turn: (turn, reads) => handOver(turn, worker, reads),
        })
        .catch(() => {}),
`,
      },
    ],
  },
  {
    name: 'message-sent-before-commit',
    why: 'A provider hears of a message before it is durable that it may, so after a crash it hears of it once more.',
    flavour: 'delivery',
    edits: [
      {
        file: 'actors/user/published-reminders/deliver.ts',
        find: 'const markInFlight = () => run.turn({ turn: (turn) => tryMarkInFlight(turn, claim) });',
        replace: `const markInFlight = async () => {
    void run.turn({ turn: (turn) => tryMarkInFlight(turn, claim) }).catch(() => {});
    return true;
  };`,
      },
    ],
  },
  {
    name: 'opt-out-ignored',
    why: 'A user who opts out is told that nothing leaves any more while a message is about to.',
    flavour: 'delivery',
    from: 58,
    edits: [
      {
        file: 'actors/user/published-reminders/publish.ts',
        find: "state === 'in-flight') ? beingSent : all(turn)",
        replace: "state === 'in-flight') ? all(turn) : all(turn)",
      },
      {
        file: 'actors/user/published-reminders/publish.ts',
        find: 'if (reminders.some(isInFlight)) {',
        replace: 'if (reminders.some(() => false)) {',
      },
    ],
  },
  {
    name: 'recall-ignored',
    why: 'A mail that is recalled before it arrives at the queue is sent when it does.',
    flavour: 'delivery',
    edits: [
      {
        file: 'actors/mailer/queue.ts',
        find: '    writeMail(turn, undefined, tombstoneOf(turn, recalled));\n',
        replace: '',
      },
    ],
  },
  {
    name: 'stale-mail-lease-accepted',
    why: 'A worker that another run has taken over goes on, so a mail that may go once is sent by both.',
    flavour: 'delivery',
    from: 85,
    edits: [
      {
        file: 'runtime/jobs/jobs.ts',
        find: '          if (row === undefined || tokenOf(row) !== held.token) throw new LostLeaseError();\n',
        replace: '          if (row === undefined) throw new LostLeaseError();\n',
      },
    ],
  },
  {
    name: 'uncertain-message-repeated',
    why: 'A message that a dead process had in flight is sent again, though its provider may have it.',
    flavour: 'delivery',
    from: 16,
    edits: [
      {
        file: 'actors/user/published-reminders/deliver.ts',
        find: "if (each.state === 'in-flight') putReminder(turn, uncertain(each));",
        replace: "if (each.state === 'in-flight') putReminder(turn, { ...each, state: 'claimed' });",
      },
    ],
  },
  {
    name: 'view-answered-before-commit',
    why: 'A one-time share is given before that is durable, so after a crash it is given to another reader too.',
    flavour: 'delivery',
    edits: [
      {
        file: 'runtime/actor/actor.ts',
        find: '    this.#held.overlay(recorded, commit);\n',
        replace:
          "    this.#held.overlay(recorded, commit);\n    if (this.address.kind === 'share') this.#answer(entry, outcome);\n",
      },
    ],
  },
];
