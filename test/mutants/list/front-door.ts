import type { Mutant } from '../mutant.ts';

const framing = ['gateway/http/framing.test.ts', 'test/attacks/framing.test.ts'];
const bearer = ['gateway/admission/bearer.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'the-first-of-two-lengths',
    harm: 'A request hidden in a body is answered to the next client of the same proxy.',
    file: 'gateway/http/framing.ts',
    find: 'return isOdd || framings > 1 ?',
    replace: 'return isOdd ?',
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
    name: 'any-secret-of-a-remembered-session',
    harm: 'A wrong secret is taken for the right one, and opens the session.',
    file: 'gateway/admission/bearer.ts',
    find: 'if (known === undefined || known.token !== token) return undefined;',
    replace: 'if (known === undefined) return undefined;',
    tests: bearer,
  },
  {
    name: 'connections-of-a-network-without-bound',
    harm: 'One network that opens connections keeps out everybody else.',
    file: 'gateway/http/connections.ts',
    find: 'this.#accepts.take(network, this.#share)',
    replace: 'true',
    tests: ['test/attacks/connections.test.ts'],
  },
];
