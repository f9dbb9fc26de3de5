/** How long test files took. Each worker notes it in one line when it ends (tools/load-built.js). */
import { z } from 'zod';

const timesSchema = z.object({
  file: z.string(),
  wallMs: z.number(),
  cpuMs: z.number(),
  processesCpuMs: z.number(),
});

/** The files that took longest, one line each, with the CPU time of the file and of the processes that it started. */
export function slowestFiles(notes: string, count: number): readonly string[] {
  const times = notes
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => timesSchema.parse(JSON.parse(line)));
  return times
    .toSorted((a, b) => b.wallMs - a.wallMs)
    .slice(0, count)
    .map(
      ({ file, wallMs, cpuMs, processesCpuMs }) =>
        `${seconds(wallMs)} s (${seconds(cpuMs)} s of CPU, its processes ${seconds(processesCpuMs)} s) ${file}`,
    );
}

export function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
