/** Builds the OpenTelemetry Collector from its Go modules. No package of ours brings a built one. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runGo } from '../go-program.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

export const collectorProgram = fileURLToPath(
  new URL('../../.cache/otel-collector-0.165.0/collector', import.meta.url),
);

/** On first use on a machine this fetches and compiles it: some minutes. @throws Error, one line */
export function buildCollector(): void {
  if (existsSync(collectorProgram)) return;
  runGo('the OpenTelemetry Collector', ['build', '-o', collectorProgram, '.'], { cwd: folder });
}
