import { EventEmitter } from 'node:events';
import test from 'ava';
import { createLogger } from './logger.ts';
import { captureOutput } from './output.ts';

function captured() {
  const lines: Record<string, unknown>[] = [];
  const written: unknown[] = [];
  const write = (...words: unknown[]) => void written.push(words);
  const node = new EventEmitter();
  node.on('warning', write);
  const console = { debug: write, log: write, info: write, warn: write, trace: write, error: write };
  captureOutput(
    createLogger({ level: 'info', node: 'here' }, { write: (line) => void lines.push(JSON.parse(line)) }),
    node as unknown as NodeJS.Process,
    console,
  );
  return { lines, written, node, console };
}

test('output of libraries becomes lines of the log, at their level', (t) => {
  const { lines, written, console } = captured();
  console.error('failed: %s', 'why', { at: 1 });
  console.log('said');
  console.trace();
  t.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [
      ['error', 'failed: why { at: 1 }'],
      ['info', 'said'],
      ['warn', ''],
    ],
  );
  t.deepEqual(written, []);
});

test('a warning of Node is a line of the log, and nothing else', (t) => {
  const { lines, written, node } = captured();
  node.emit(
    'warning',
    Object.assign(new Error('too many listeners'), { name: 'MaxListenersExceededWarning' }),
  );
  t.like(lines[0], {
    level: 'warn',
    node: 'here',
    warning: 'MaxListenersExceededWarning',
    msg: 'too many listeners',
  });
  t.deepEqual([lines.length, written], [1, []]);
});
