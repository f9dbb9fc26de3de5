import type { Mutant } from '../mutant.ts';

/** A setting that the server reads under a wrong name, and so has no effect. One for each list of settings. */
const unwired = (setting: string, harm: string, file: string): Mutant => ({
  name: `${setting.toLowerCase().replaceAll('_', '-')}-without-effect`,
  harm,
  file,
  find: `name: '${setting}',`,
  replace: `name: '${setting}_',`,
  tests: ['test/behaviour/settings.test.ts'],
  match: `${setting} *`,
});

export const mutants: readonly Mutant[] = [
  unwired('ACCESS_TOKEN_AGE', 'Stolen tokens work for two months, whatever was set.', 'actors/settings.ts'),
  unwired(
    'ACCOUNT_BYTES_MAX',
    'Accounts take more of the disk than the operator gives.',
    'actors/collection/settings.ts',
  ),
  unwired('TRUST_PROXY', 'A client chooses the address that limits are counted by.', 'gateway/settings.ts'),
  {
    name: 'a-hash-for-everybody',
    harm: 'A reader of the database sees which users have the same password as the one before.',
    file: 'process/node.ts',
    find: 'accounts.endToEndTesting ? rememberLastHash(hasher) : hasher',
    replace: 'accounts ? rememberLastHash(hasher) : hasher',
    tests: ['test/behaviour/settings.test.ts'],
    match: 'E2E_TESTING alone *',
  },
  {
    name: 'a-door-left-open',
    harm: 'A server put on the network takes strangers in, and nobody has decided that.',
    file: 'process/config/consistency.ts',
    find: "if (role !== 'host' && !isLoopback(host) && isOpen(config, secrets)) {",
    replace: 'if (false) {',
    tests: ['process/config/config.test.ts'],
  },
];
