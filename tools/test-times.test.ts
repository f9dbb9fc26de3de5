import test from 'ava';
import { slowestFiles } from './test-times.ts';

const noted = (file: string, wallMs: number, cpuMs: number, processesCpuMs: number) =>
  `${JSON.stringify({ file, wallMs, cpuMs, processesCpuMs })}\n`;

test('the slowest files come first, with the CPU time of their workers and of other processes', (t) => {
  const notes = [
    noted('a.test.ts', 900, 800, 0),
    noted('b.test.ts', 61_240, 2_060, 12_300),
    noted('c.test.ts', 20, 10, 0),
  ].join('');
  t.deepEqual(slowestFiles(notes, 2), [
    '61.2 s (2.1 s of CPU, its processes 12.3 s) b.test.ts',
    '0.9 s (0.8 s of CPU, its processes 0.0 s) a.test.ts',
  ]);
});

test('there are none before the first file has ended', (t) => t.deepEqual(slowestFiles('', 2), []));
