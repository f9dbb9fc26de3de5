import { Gauge, type Registry } from 'prom-client';

export interface Build {
  readonly version: string;
  /** `all`, `gateway` or `host`. */
  readonly role: string;
}

/** Always 1: its labels tell which release each process runs, so that a dashboard shows an upgrade under way. */
export function registerBuildInfo(registry: Registry, { version, role }: Build): void {
  new Gauge({
    name: 'scriptorium_build_info',
    help: 'Always 1. Its labels are the release, the role of the process and the version of Node.js',
    labelNames: ['version', 'role', 'node'],
    registers: [registry],
  }).set({ version, role, node: process.version }, 1);
}
