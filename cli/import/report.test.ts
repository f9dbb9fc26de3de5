import test from 'ava';
import { ImportReport } from './report.ts';

test('every row that was read is written, unchanged or left out for a reason', (t) => {
  const report = new ImportReport();
  report.read('items', 10);
  report.written('items', 4);
  report.unchanged('items', 3);
  report.skipped('items', 'content-type', 'a');
  report.settle('items', 'account-gone');
  const row = report.rows().find(([table]) => table === 'items');
  t.deepEqual(row, ['items', 10, 4, 3, 3, 'account-gone 2, content-type 1']);
});

test('it wants attention where something should have come and did not', (t) => {
  const report = new ImportReport();
  report.skipped('items', 'account-gone', 'a');
  t.false(report.isWanting);
  report.skipped('items', 'too-large', 'b');
  t.true(report.isWanting);
});

test('it takes no more memory for more findings', (t) => {
  const report = new ImportReport();
  for (let index = 0; index < 10_100; index += 1) report.skipped('items', 'account-gone', String(index));
  const { findings, findingsOmitted } = report.document() as { findings: object[]; findingsOmitted: number };
  t.is(findings.length, 10_000);
  t.is(findingsOmitted, 100);
});
