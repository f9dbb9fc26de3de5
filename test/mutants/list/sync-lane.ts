import type { Mutant } from '../mutant.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'a-lane-command-that-outlives-its-hold',
    harm: 'A client is told that its command never took effect, and then it does.',
    file: 'actors/user/sync-lane/carry-out.ts',
    find: 'if (hold !== undefined && holder !== hold) return holdLost;',
    replace: '',
    tests: ['test/behaviour/sockets/sync-lane-sessions.test.ts'],
    match: 'a command whose actor has moved*',
  },
  {
    name: 'a-lane-that-ignores-what-was-refreshed',
    harm: 'A stolen ticket works on after its session has other tokens.',
    file: 'actors/user/sessions/session.ts',
    find: 'equalInConstantTime(name, pairName(pair))',
    replace: 'true',
    tests: ['test/behaviour/sockets/sync-lane-sessions.test.ts'],
    match: 'after a refresh*',
  },
  {
    name: 'a-lane-ticket-that-is-spent-twice',
    harm: 'A client that has seen a ticket in use opens a socket with it.',
    file: 'actors/user/sync-lane/memory.ts',
    find: 'if (claim !== undefined) return claim.by === by;',
    replace: 'if (claim !== undefined) return true;',
    tests: ['test/behaviour/sockets/sync-lane.test.ts'],
    match: 'a ticket lets its device in once',
  },
  {
    name: 'a-ping-that-counts-for-nothing',
    harm: 'Anybody who pings without end and reads nothing fills the memory of the process.',
    file: 'gateway/sockets/sync-lane/lane-socket.ts',
    find: 'if (this.#budget.take(0, this.#lane.nowMs())) this.drained();',
    replace: "if (this.#state !== 'closed') this.drained();",
    tests: ['test/attacks/lane-frames.test.ts'],
    match: 'nobody has pings answered without end*',
  },
  {
    name: 'a-sync-command-without-its-entry',
    harm: 'A command that was saved is saved again by its repeat, over what others have saved since.',
    file: 'actors/user/sync-lane/journal.ts',
    find: '  armTrim(turn, number);\n',
    replace:
      '  turn.remove(syncCommandTable, { user_uuid: turn.self.id, session_uuid: sessionUuid, command_id: identity.id });\n',
    tests: ['test/behaviour/sockets/commands-over-http.test.ts'],
    match: 'a restart forgets no command*',
  },
  {
    name: 'a-sync-command-of-anybody',
    harm: 'Another session is shown what a command of this one has saved.',
    file: 'actors/user/sync-lane/memory.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    find: '`${sessionUuid} ${commandId}`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    replace: "`${sessionUuid === '' ? '' : ' '}${commandId}`",
    tests: ['test/behaviour/sockets/commands-over-http.test.ts'],
    match: 'a pull is known to its own session alone',
  },
];
