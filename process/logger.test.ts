import test from 'ava';
import { createLogger } from './logger.ts';

function loggedBy(write: (logger: ReturnType<typeof createLogger>) => void, level = 'info') {
  const lines: Record<string, unknown>[] = [];
  write(createLogger({ level, node: 'here' }, { write: (line) => void lines.push(JSON.parse(line)) }));
  return lines;
}

test('fields that must not be logged are redacted, down to three levels', (t) => {
  const lines = loggedBy((logger) => {
    logger.info(
      { password: 'hunter2', request: { authorization: 'hunter2', inner: { cookie: 'hunter2' } } },
      'x',
    );
    logger.child({ email: 'hunter2' }).warn({ access_token: 'hunter2', kept: 1 }, 'y');
  });
  t.notRegex(JSON.stringify(lines), /hunter2/);
  t.is(lines.length, 2);
  t.is(lines[1]?.['kept'], 1);
});

test('lines below the level are not written, and the others say their level and time', (t) => {
  const [line, ...others] = loggedBy((logger) => {
    logger.debug('no');
    logger.warn('yes');
  });
  t.deepEqual(others, []);
  t.is(line?.['level'], 'warn');
  t.is(line?.['node'], 'here');
  t.regex(String(line?.['time']), /^\d{4}-\d\d-\d\dT/);
});
