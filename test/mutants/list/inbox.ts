import type { Mutant } from '../mutant.ts';

const messages = ['test/behaviour/vaults/messages.test.ts'];
const races = ['test/races/messages.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-message-that-erases-anothers',
    harm: 'Anyone who knows an identifier erases what somebody else has written to the same user.',
    file: 'actors/user/inbox/messages.ts',
    find: '  row.sender_uuid === message.sender_uuid &&\n',
    replace: '',
    tests: messages,
  },
  {
    name: 'a-message-that-is-lost-on-the-way',
    harm: 'A sender is told that a message was sent, and it never was.',
    file: 'actors/user/inbox/messages.ts',
    find: '    if (alike.some((row) => row.created_at > message.created_at_timestamp)) return;\n',
    replace: '    if (alike.length > 0) return;\n',
    tests: [...messages, ...races],
  },
];
