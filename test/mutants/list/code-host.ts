import type { Mutant } from '../mutant.ts';

const tests = ['test/behaviour/code-host/publish.test.ts'];
const codeHost = 'gateway/code-host/code-host.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'publishing-outside-the-repository',
    harm: 'A path leads out of the repository, to whatever else the interface of the host has.',
    file: 'gateway/code-host/publishing-request.ts',
    find: "!['', '.', '..'].includes(segment)",
    replace: "segment !== ''",
    tests,
  },
  {
    name: 'links-of-any-kind',
    harm: 'A code host has clients open a link that runs code.',
    file: codeHost,
    find: '/^https:',
    replace: '/^.*:',
    tests,
    match: 'links are told*',
  },
];
