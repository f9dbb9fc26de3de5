import type { Mutant } from '../mutant.ts';

const lane = ['test/behaviour/sockets/sync-lane.test.ts'];
const sessions = ['test/behaviour/sockets/sync-lane-sessions.test.ts'];
const overHttp = ['test/behaviour/sockets/commands-over-http.test.ts'];
const actor = 'actors/user/sync-lane';
const socket = 'gateway/sockets/sync-lane/lane-socket.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'a-lane-command-that-outlives-its-hold',
    harm: 'A client is told that its command never took effect, and then it does.',
    file: `${actor}/carry-out.ts`,
    find: 'if (hold !== undefined && holder !== hold) return holdLost;',
    replace: '',
    tests: sessions,
    match: 'a command whose actor has moved*',
  },
  {
    name: 'a-lane-that-ignores-what-was-refreshed',
    harm: 'A stolen ticket works on after its session has other tokens.',
    file: 'actors/user/sessions/session.ts',
    find: 'equalInConstantTime(name, pairName(pair))',
    replace: 'true',
    tests: sessions,
    match: 'after a refresh*',
  },
  {
    name: 'a-lane-ticket-that-is-spent-twice',
    harm: 'An observer of a ticket in use opens a socket by it.',
    file: `${actor}/memory.ts`,
    find: 'if (spent !== undefined) return spent.by === by;',
    replace: 'if (spent !== undefined) return true;',
    tests: lane,
    match: 'a ticket lets its device in once',
  },
  {
    name: 'a-reauth-by-a-ticket-of-another-session',
    harm: 'A socket goes on under another session than it was opened for.',
    file: socket,
    find: 'ticket.userUuid === userUuid && ticket.sessionUuid === identifier ? ticket : undefined',
    replace: 'ticket.userUuid === userUuid && identifier !== undefined ? ticket : undefined',
    tests: sessions,
    match: 'a ticket of another session*',
  },
  {
    name: 'a-sync-command-without-its-entry',
    harm: 'A command that was saved is saved again by its repeat, over what others have saved since.',
    file: `${actor}/journal.ts`,
    find: '  armTrim(turn, number);\n',
    replace:
      '  turn.remove(syncCommandTable, { user_uuid: turn.self.id, session_uuid: sessionUuid, command_id: identity.id });\n',
    tests: overHttp,
    match: 'a restart forgets no command*',
  },
  {
    name: 'a-sync-command-of-anybody',
    harm: 'Another session is shown what a command of this one has saved.',
    file: `${actor}/memory.ts`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    find: '`${sessionUuid} ${commandId}`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    replace: "`${sessionUuid === '' ? '' : ' '}${commandId}`",
    tests: overHttp,
    match: 'a pull is known to its own session alone',
  },
];
