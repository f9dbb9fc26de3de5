import type { Program } from './program.ts';

/** What the queries of the dashboards are tried on. It comes with `promtool`. */
export const prometheus: Program = {
  name: 'Prometheus',
  variable: 'PROMETHEUS_PATH',
  commands: ['prometheus'],
  package: 'prometheus',
};
