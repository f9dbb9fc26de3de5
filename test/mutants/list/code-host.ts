import type { Mutant } from '../mutant.ts';

const tests = ['test/behaviour/code-host/publish.test.ts'];
const codeHost = 'gateway/code-host/code-host.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'bad-token-as-lost-session',
    harm: 'Who mistypes the token of a code host is signed out of this server.',
    file: codeHost,
    find: "refuse(403, 'The code host does not accept this access token.'",
    replace: "refuse(401, 'The code host does not accept this access token.'",
    tests,
    match: 'github: what is not there*',
  },
  {
    name: 'publishing-without-the-id',
    harm: 'Publishing replaces what somebody else has just written, or nothing ever.',
    file: codeHost,
    find: '...(sha !== null && { sha }),',
    replace: '',
    tests,
    match: 'github: a file is made*',
  },
  {
    name: 'stale-id-not-looked-into',
    harm: 'With Gitea a change by somebody else is told as a fault of the note.',
    file: codeHost,
    find: 'return now.sha === sha ? refusalOf(put) : conflict;',
    replace: 'return refusalOf(put);',
    tests,
    match: 'gitea: what somebody else*',
  },
  {
    name: 'removed-file-as-missing-repository',
    harm: 'With Gitea a file that somebody else has removed is told as a repository that is not there.',
    file: codeHost,
    find: ' || (put.status === 404 && found.sha !== null)',
    replace: '',
    tests,
    match: 'gitea: what somebody else*',
  },
  {
    name: 'overtaken-as-forbidden',
    harm: 'With Gitea one of two who publish at the same time is told that the token may not.',
    file: codeHost,
    find: 'if (isOvertaken(put)) return conflict;',
    replace: '',
    tests,
    match: 'who is overtaken*',
  },
  {
    name: 'publishing-outside-the-repository',
    harm: 'A path leads out of the repository, to whatever else the interface of the host has.',
    file: 'gateway/code-host/given.ts',
    find: "!['', '.', '..'].includes(segment)",
    replace: "segment !== ''",
    tests,
  },
  {
    name: 'publishing-without-a-rate',
    harm: 'One account has the code host refuse this server for all.',
    file: 'actors/user/code-host/publishing.ts',
    find: 'recent.length >= perMinuteMax',
    replace: 'recent.length >= 10 * perMinuteMax',
    tests,
    match: 'a user publishes ten*',
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
