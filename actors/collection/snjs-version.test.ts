import test from 'ava';
import { knowsVaults } from './snjs-version.ts';

test('clients from 2.200.0 on know vaults', (t) => {
  for (const version of ['2.200.0', '2.204.7', '2.1000.0', '3.0.0', '2.200.1-beta.1'])
    t.true(knowsVaults(version));
});

test('older clients, and versions that are missing or unreadable, do not', (t) => {
  for (const version of ['2.199.0', '2.199.999', '1.300.0', '', 'latest', '2.200', null]) {
    t.false(knowsVaults(version));
  }
});
