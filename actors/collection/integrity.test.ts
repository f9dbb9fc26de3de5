import test from 'ava';
import { uuidNumber } from '../../test/kit/items.ts';
import { clientVersions, mismatchOf } from './integrity.ts';

const uuid = 'abcdefab-0000-4000-8000-000000000001';
const row = { uuid, content_type: 'Note', updated_at_timestamp: 10 };

test('an item the client has at the same version is no mismatch', async (t) => {
  t.is(mismatchOf(row, await clientVersions([{ uuid, updated_at_timestamp: 10 }])), undefined);
});

test('an item the client lacks, or has at another version, is a mismatch with the server version', async (t) => {
  const expected = { uuid, updated_at_timestamp: 10 };
  for (const version of [9, 11, '10', null, undefined]) {
    t.deepEqual(mismatchOf(row, await clientVersions([{ uuid, updated_at_timestamp: version }])), expected);
  }
  t.deepEqual(
    mismatchOf(row, await clientVersions([{ uuid: uuidNumber(2), updated_at_timestamp: 10 }])),
    expected,
  );
});

test('items keys are never reported', async (t) => {
  t.is(mismatchOf({ ...row, content_type: 'SN|ItemsKey' }, await clientVersions([])), undefined);
});

test("uuids are compared without case and reported in the client's spelling", async (t) => {
  const spelling = uuid.toUpperCase();
  t.is(mismatchOf(row, await clientVersions([{ uuid: spelling, updated_at_timestamp: 10 }])), undefined);
  t.is(mismatchOf(row, await clientVersions([{ uuid: spelling, updated_at_timestamp: 9 }]))?.uuid, spelling);
});

test('payloads that name no uuid are passed over', async (t) => {
  t.is((await clientVersions([{}, { uuid: 5 }, { uuid: 'x' }])).get('x'), undefined);
});

test('the last of many payloads with one uuid counts, however many are between them', async (t) => {
  const others = Array.from({ length: 140_000 }, (_, index) => ({ uuid: uuidNumber(index + 2) }));
  const versions = await clientVersions([
    { uuid, updated_at_timestamp: 9 },
    ...others,
    { uuid, updated_at_timestamp: 10 },
  ]);
  t.is(mismatchOf(row, versions), undefined);
  for (const { uuid: other } of others) if (versions.get(other) === undefined) t.fail(other);
});

test('the loop turns while hundreds of thousands of items are compared', async (t) => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    setImmediate(count).unref();
  };
  setImmediate(count).unref();
  const versions = await clientVersions(Array(20_001).fill({ uuid, updated_at_timestamp: 10 }));
  t.is(versions.size, 1);
  t.is(versions.get(uuid)?.version, 10);
  t.true(turns >= 4, `${turns}`);
});
