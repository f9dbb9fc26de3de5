import test from 'ava';
import { Reasons } from './reasons.ts';

const numbered = (what: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${what} ${index}`);

function reasonsOf(lines: Readonly<Record<string, readonly string[]>>): Reasons {
  const reasons = new Reasons();
  for (const [title, all] of Object.entries(lines)) for (const line of all) reasons.add(title, line);
  return reasons;
}

test('each reason that is asked for has its lines under its title', (t) => {
  const reasons = reasonsOf({ a: ['late'], b: ['early'], c: ['never'] });
  t.deepEqual(reasons.of(['c', 'unknown', 'a']), ['c:', '    never', 'a:', '    late']);
});

test('a long reason is cut: of an error its beginning stays, of notes their end', (t) => {
  const reasons = reasonsOf({ a: [...numbered('# note', 100), ...numbered('error', 100)] });
  const lines = reasons.of(['a']);
  t.is(lines.length, 42);
  t.true(lines.includes('    # note 99') && lines.includes('    error 0'));
  t.false(lines.includes('    # note 0') || lines.includes('    error 99'));
  t.is(lines.at(-1), '    (160 more lines stand further up)');
});

test('where one of both is short, the other gets its room', (t) => {
  t.true(
    reasonsOf({ a: numbered('error', 40) })
      .of(['a'])
      .includes('    error 39'),
  );
  t.true(
    reasonsOf({ a: [...numbered('# note', 39), 'error'] })
      .of(['a'])
      .includes('    # note 0'),
  );
});

test('when very much has failed, the first reasons are told', (t) => {
  const titles = numbered('test', 50);
  const lines = reasonsOf(Object.fromEntries(titles.map((title) => [title, numbered('error', 100)]))).of(
    titles,
  );
  t.true(lines.length <= 201);
  t.is(lines.at(0), 'test 0:');
  t.is(lines.at(-1), 'More stands further up.');
});
