import { buildGoProgram, pathOf } from './go-program.ts';

/** By which the chart's README is written from the comments of its values. */
const helmDocs = {
  name: 'helm-docs',
  package: 'github.com/norwoodj/helm-docs/cmd/helm-docs',
  version: 'v1.14.2',
};

export const helmDocsProgram = pathOf(helmDocs);
export const buildHelmDocs = (): void => buildGoProgram(helmDocs);
