/**
 * The test files that take a minute or more, in the order in which they start, before all others. If one of them
 * started late, it would still run when the rest is done. Files that mostly wait, for leases and for processes, stand
 * between those that compute.
 */
export const slowest = [
  'test/cluster/cluster.test.ts',
  'test/faults/kill-under-load.test.ts',
  'test/simulation/planted-delivery.test.ts',
  'test/load-tests/runs.test.ts',
  'test/simulation/planted.test.ts',
  'test/documentation/documented-commands.test.ts',
  'test/cluster/deliveries.test.ts',
  'test/simulation/planted-vaults.test.ts',
  'test/cluster/neighbours.test.ts',
  'runtime/store/contract.test.ts',
  'test/behaviour/process/start.test.ts',
  'test/simulation/simulation.test.ts',
  'test/load-tests/command.test.ts',
  'runtime/store/contract-variants.test.ts',
  'test/behaviour/process/migrate.test.ts',
  'test/cluster/calendars.test.ts',
  'test/behaviour/operations/command-line.test.ts',
  'test/cluster/pairing.test.ts',
  'test/systems/node-24.test.ts',
  'test/browser/accounts.test.ts',
  'test/browser/files.test.ts',
  'test/browser/factors.test.ts',
];
