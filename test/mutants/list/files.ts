import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/files/files.test.ts'];
const attacks = ['test/attacks/files.test.ts'];
const races = ['test/races/files.test.ts'];
const faults = ['test/faults/persisted-files.test.ts'];
const sweep = ['test/races/sweep.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'valet-token-unverified',
    harm: 'Anybody reads, replaces and deletes the files of everybody.',
    file: 'actors/identity/valet-tokens.ts',
    find: '      if (!equalInConstantTime(mac, macOf(signed))) return undefined;\n',
    replace: '',
    tests: attacks,
    match: 'a token that was altered*',
  },
  {
    name: 'valet-token-outlives-session',
    harm: 'A device that was signed out from another one keeps the files that it had asked for.',
    file: 'actors/user/files/access.ts',
    find: 'const isAlive = session !== undefined && view.nowMs < session.keptUntilMs;',
    replace: 'const isAlive = session === undefined || view.nowMs < session.keptUntilMs;',
    tests: attacks,
    match: 'a token dies with its session*',
  },
  {
    name: 'valet-token-does-everything',
    harm: 'A token that was made for reading deletes the file.',
    file: 'actors/user/files/access.ts',
    find: '  if (claims.operation !== operation) return otherOperation;\n',
    replace: '',
    tests: attacks,
    match: 'a token does one thing alone',
  },
  {
    name: 'reader-replaces-files',
    harm: 'A session that may only read from now on still replaces files.',
    file: 'actors/user/files/access.ts',
    find: 'refusalToWrite(isReadonly(view, session))',
    replace: 'refusalToWrite(isReadonly(view, session) && operation === undefined)',
    tests: attacks,
    match: 'a session that may only read*',
  },
  {
    name: 'named-chunk-removed',
    harm: 'A chunk that was answered as stored is lost where an answer between two nodes was.',
    file: 'actors/files/uploads.ts',
    find: 'row.upload_uuid === uploadUuid && chunksIn(row.layout).some(isIt)',
    replace: "row.upload_uuid === '' && chunksIn(row.layout).some(isIt)",
    tests: races,
    match: 'a chunk whose answer was lost*',
  },
  {
    name: 'a-file-that-is-not-durable',
    harm: 'A power cut takes a file that was told to be stored.',
    file: 'actors/files/closing.ts',
    find: 'await steps.use(FileStore).persist(blobs);',
    replace: '',
    tests: faults,
    match: '*power cut*',
  },
  {
    name: 'gap-closed',
    harm: 'A file of which a chunk is missing is told to be stored.',
    file: 'actors/files/uploads.ts',
    find: '  if (!isWithoutGap(upload.layout)) return incomplete;\n',
    replace: '',
    tests: behaviour,
    match: 'an upload is not closed with a gap*',
  },
  {
    name: 'young-blobs-swept',
    harm: 'The sweep takes chunks of an upload that is about to become a file.',
    file: 'actors/sweeper/sweeper.ts',
    find: 'run.nowMs - writtenMs >= leastAgeMs',
    replace: 'run.nowMs - writtenMs >= 0 * leastAgeMs',
    tests: sweep,
    match: 'an upload that is open while*',
  },
  {
    name: 'files-swept',
    harm: 'The sweep takes the files of everybody.',
    file: 'actors/sweeper/sweeper.ts',
    find: '!named.has(name)',
    replace: 'named.has(name) || uploadOf(name) !== undefined',
    tests: sweep,
    match: 'a blob that nothing names*',
  },
];
