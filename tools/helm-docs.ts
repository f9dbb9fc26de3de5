import { buildGoProgram, pathOf } from './go-program.ts';

/** Writes the chart's README from the comments of its values. */
const helmDocs = {
  name: 'helm-docs',
  package: 'github.com/norwoodj/helm-docs/cmd/helm-docs',
  version: 'v1.14.2',
};

export const helmDocsProgram = pathOf(helmDocs);
export const buildHelmDocs = (): void => buildGoProgram(helmDocs);
