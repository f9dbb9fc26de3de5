import { buildGoProgram, pathOf } from './go-program.ts';

/** Tests render the chart with it. */
const helm = { name: 'Helm', package: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' };

export const helmProgram = pathOf(helm);
export const buildHelm = (): void => buildGoProgram(helm);
