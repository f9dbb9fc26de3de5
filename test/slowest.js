/**
 * The test files that take half a minute or more, in the order in which they start, before all others. If one of them
 * started late, it would still run when the rest is done. Files that mostly wait, for leases and for processes, stand
 * between those that compute. `npm test` ends with what each file took.
 */
export const slowest = [
  'test/cluster/cluster.test.ts',
  'test/load-tests/runs.test.ts',
  'test/simulation/planted.test.ts',
  'test/cluster/neighbours.test.ts',
  'test/behaviour/process/start.test.ts',
  'test/store/dialect.test.ts',
  'test/load-tests/command.test.ts',
  'test/backup/command-line.test.ts',
  'runtime/store/contract.test.ts',
  'test/cluster/deliveries.test.ts',
  'test/cluster/take-over.test.ts',
  'test/simulation/simulation.test.ts',
  'test/faults/kill-under-load.test.ts',
  'test/browser/push.test.ts',
  'runtime/store/postgres/faults.test.ts',
  'test/browser/public-shares.test.ts',
  'test/documentation/documented-commands.test.ts',
  'runtime/store/contract-variants.test.ts',
  'test/browser/files.test.ts',
  'test/cluster/calendars.test.ts',
  'test/browser/accounts.test.ts',
  'test/cluster/deadlines.test.ts',
];
