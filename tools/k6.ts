import { buildGoProgram, pathOf } from './go-program.ts';

/** Runs the load tests (load-tests/README.md). */
const k6 = { name: 'k6', package: 'go.k6.io/k6', version: 'v1.8.1' };

export const k6Program = pathOf(k6);
export const buildK6 = (): void => buildGoProgram(k6);
