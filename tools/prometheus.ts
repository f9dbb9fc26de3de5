import type { Program } from './program.ts';

/** Runs the queries of the dashboards. It comes with `promtool`. */
export const prometheus: Program = {
  name: 'Prometheus',
  variable: 'PROMETHEUS_PATH',
  commands: ['prometheus'],
  package: 'prometheus',
};
