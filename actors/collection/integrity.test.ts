import test from 'ava';
import { uuidNumber } from '../../test/kit/items.ts';
import { clientVersions, mismatchOf } from './integrity.ts';

const uuid = 'abcdefab-0000-4000-8000-000000000001';
const row = { uuid, content_type: 'Note', updated_at_timestamp: 10 };

test('an item the client has at the same version is no mismatch', (t) => {
  t.is(mismatchOf(row, clientVersions([{ uuid, updated_at_timestamp: 10 }])), undefined);
});

test('an item the client lacks, or has at another version, is a mismatch with the server version', (t) => {
  const expected = { uuid, updated_at_timestamp: 10 };
  for (const version of [9, 11, '10', null, undefined]) {
    t.deepEqual(mismatchOf(row, clientVersions([{ uuid, updated_at_timestamp: version }])), expected);
  }
  t.deepEqual(mismatchOf(row, clientVersions([{ uuid: uuidNumber(2), updated_at_timestamp: 10 }])), expected);
});

test('items keys are never reported', (t) => {
  t.is(mismatchOf({ ...row, content_type: 'SN|ItemsKey' }, clientVersions([])), undefined);
});

test("uuids are compared without case and reported in the client's spelling", (t) => {
  const spelling = uuid.toUpperCase();
  t.is(mismatchOf(row, clientVersions([{ uuid: spelling, updated_at_timestamp: 10 }])), undefined);
  t.is(mismatchOf(row, clientVersions([{ uuid: spelling, updated_at_timestamp: 9 }]))?.uuid, spelling);
});

test('payloads that name no uuid are passed over', (t) => {
  t.is(clientVersions([{}, { uuid: 5 }, { uuid: 'x' }]).size, 0);
});
