import test from 'ava';
import { note, uuidNumber } from '../../test/kit/items.ts';
import { isRefused } from '../reply.ts';
import {
  integrityFields,
  isLegacy,
  isVaultExclusive,
  malformed,
  type SyncRequest,
  syncBody,
} from './sync-contract.ts';

const request = (body: object) => ({ ...body, snjs_version: null }) as SyncRequest;
const fits = (body: unknown) => syncBody.safeParse(body).success;

test('everything is optional, null included, and unknown keys are tolerated', (t) => {
  t.true(fits({}));
  t.true(fits({ items: null, sync_token: null, cursor_token: null, limit: null, shared_vault_uuids: null }));
  t.true(fits({ api: '20200115', compute_integrity: true, whatever: {} }));
});

test('outer fields of a wrong type do not fit', (t) => {
  const wrong = [
    { items: {} },
    { items: [1] },
    { items: [null] },
    { items: [[]] },
    { sync_token: 5 },
    { cursor_token: {} },
    { limit: '150' },
    { shared_vault_uuids: 'x' },
    { api: 5 },
  ];
  for (const body of wrong) t.false(fits(body), JSON.stringify(body));
  for (const integrityPayloads of [{}, 'x', [1]])
    t.false(integrityFields.safeParse({ integrityPayloads }).success);
});

test('fields of an item are not judged by the schema', (t) => {
  t.true(fits({ items: [{}, { uuid: 5, content: {} }] }));
});

test('an API version that is missing or unknown is the legacy one', (t) => {
  for (const api of ['20190520', '20200115', '20240226']) t.false(isLegacy(request({ api })));
  for (const body of [{}, { api: null }, { api: '20161215' }, { api: '2099' }, { api: '' }]) {
    t.true(isLegacy(request(body)));
  }
});

test('only a list with vaults in it makes a sync exclusive', (t) => {
  t.true(isVaultExclusive(request({ shared_vault_uuids: [uuidNumber(1)] })));
  for (const shared_vault_uuids of [[], null, undefined])
    t.false(isVaultExclusive(request({ shared_vault_uuids })));
});

test('a malformed vault uuid fails the request and is named, shortened', (t) => {
  t.is(malformed([note(), note({ shared_vault_uuid: uuidNumber(1) })]), undefined);
  for (const shared_vault_uuid of ['', 'x'.repeat(1e6), 5, {}]) {
    const wrong = malformed([note({ shared_vault_uuid })]);
    t.true(isRefused(wrong));
    t.is(wrong?.refused.reason, 'bad-request');
    t.true((wrong?.refused.message.length ?? 0) < 120);
  }
});

test('more items than one request may bring are refused', (t) => {
  t.is(malformed(new Array(20_000).fill(note())), undefined);
  t.is(malformed(new Array(20_001).fill(note()))?.refused.reason, 'bad-request');
});
