import type { Mutant } from '../mutant.ts';

const framing = ['gateway/http/framing.test.ts', 'test/attacks/framing.test.ts'];
const bearer = ['gateway/admission/bearer.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'the-first-of-two-lengths',
    harm: 'A request hidden in a body is answered to whoever comes next through the same proxy.',
    file: 'gateway/http/framing.ts',
    find: 'return isOdd || framings > 1;',
    replace: 'return isOdd;',
    tests: framing,
  },
  {
    name: 'any-coding-for-chunked',
    harm: 'A proxy that does not know the coding finds another end of the body than the server.',
    file: 'gateway/http/framing.ts',
    find: "isOdd ||= value.toLowerCase() !== 'chunked';",
    replace: '',
    tests: framing,
  },
  {
    name: 'sockets-of-any-framing',
    harm: 'A request is hidden behind an upgrade.',
    file: 'gateway/sockets/endpoint.ts',
    find: 'if (!framing.admits(res, req)) return;',
    replace: '',
    tests: framing,
  },
  {
    name: 'bearers-remembered-as-spelled',
    harm: 'One session, spelled in many ways, pushes those of all others out.',
    file: 'gateway/admission/bearer.ts',
    find: 'const session = token.slice(0, sessionCharacters);',
    replace: 'const session = authorization;',
    tests: bearer,
  },
  {
    name: 'any-secret-of-a-remembered-session',
    harm: 'A wrong secret is taken for the right one, and opens the session.',
    file: 'gateway/admission/bearer.ts',
    find: 'if (known === undefined || known.token !== token) return undefined;',
    replace: 'if (known === undefined) return undefined;',
    tests: bearer,
  },
  {
    name: 'headers-of-any-length-remembered',
    harm: 'Whoever has one token keeps megabytes of blanks in the memory of the process.',
    file: 'gateway/admission/bearer.ts',
    find: "if (authorization === '' || authorization.length > authorizationCharactersMax) return undefined;",
    replace: "if (authorization === '') return undefined;",
    tests: bearer,
  },
];
