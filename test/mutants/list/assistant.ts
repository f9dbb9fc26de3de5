import type { Mutant } from '../mutant.ts';

const attacks = ['test/attacks/assistant.test.ts'];
const assistant = 'gateway/assistant/assistant.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'assistant-answers-the-banned',
    harm: 'A banned user, or a lost device that was signed out, is answered for ten minutes more.',
    file: assistant,
    find: 'AbortSignal.any([leave.signal, gone, stopping, ended])',
    replace: 'AbortSignal.any([leave.signal, gone, stopping])',
    tests: attacks,
    match: 'an answer that has begun ends*',
  },
  {
    name: 'an-outbound-stream-without-end',
    harm: 'A provider or a proxy sends without end, and every byte of it is taken and passed on.',
    file: 'actors/outbound/node-http.ts',
    find: "        if (bytes > answerBytesMax) throw new Failure('too-large');\n        yield value;",
    replace: '        yield value;',
    tests: ['actors/outbound/node-http-streams.test.ts'],
    match: 'an endless answer*',
  },
  {
    name: 'assistant-exempts-pairing',
    harm: 'A client without the access key reaches what administrators do for the assistant.',
    file: 'gateway/admission/access-key.ts',
    find: "(isNamed.has('assistant') && assistantPatterns.has(pattern ?? ''))",
    replace: "(isNamed.has('assistant') && (pattern ?? '').startsWith('/v1/assistant/'))",
    tests: ['gateway/admission/access-key.test.ts'],
  },
];
