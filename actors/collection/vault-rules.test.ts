import test from 'ava';
import { permissions } from '../inbox-entries.ts';
import { knowsVaults, type VaultOperation, type VaultSave, vaultDefect } from './vault-rules.ts';

const operations: readonly VaultOperation[] = ['create', 'add', 'save', 'move', 'remove'];
const insufficient = 'shared_vault_insufficient_permissions_error';
const invalid = 'shared_vault_invalid_state';

const defects = (input: Partial<VaultSave>) =>
  Object.fromEntries(
    operations.map((operation) => [
      operation,
      vaultDefect({
        operation,
        permission: 'write',
        isOwner: true,
        contentTypes: ['Note', 'Note'],
        isDeleted: false,
        ...input,
      }),
    ]),
  );
const ok = { create: undefined, add: undefined, save: undefined, move: undefined, remove: undefined };
const all = (type: string) => ({ create: type, add: type, save: type, move: type, remove: type });

test('a member who may write may do everything with their own items', (t) => {
  t.deepEqual(defects({}), ok);
  t.deepEqual(defects({ permission: 'admin' }), ok);
});

test('a member who may only read may change nothing', (t) => {
  t.deepEqual(defects({ permission: 'read' }), all(insufficient));
});

test('nobody but its owner adds an item or takes it out, not even an admin', (t) => {
  for (const permission of ['write', 'admin'] as const) {
    t.deepEqual(defects({ permission, isOwner: false }), { ...ok, add: insufficient, remove: insufficient });
  }
});

test('a deleted item stays in its vault', (t) => {
  for (const permission of permissions) {
    const { add, move, remove } = defects({ permission, isDeleted: true, isOwner: false });
    t.deepEqual([add, move, remove], [invalid, invalid, invalid]);
  }
  t.deepEqual(defects({ isDeleted: true }), { ...ok, add: invalid, move: invalid, remove: invalid });
});

test('the keys of a vault are for its admins, by what is stored and by what is sent', (t) => {
  const key = 'SN|KeySystemItemsKey';
  for (const contentTypes of [
    [key, 'Note'],
    ['Note', key],
  ]) {
    t.deepEqual(defects({ contentTypes }), all(insufficient));
    t.deepEqual(defects({ contentTypes, permission: 'admin' }), ok);
  }
});

test('clients from 2.200.0 on know vaults', (t) => {
  for (const version of ['2.200.0', '2.204.7', '2.1000.0', '3.0.0', '2.200.1-beta.1'])
    t.true(knowsVaults(version));
});

test('older clients, and versions that are missing or unreadable, do not', (t) => {
  for (const version of ['2.199.0', '2.199.999', '1.300.0', '', 'latest', '2.200', null]) {
    t.false(knowsVaults(version));
  }
});
