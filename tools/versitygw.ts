import { buildGoProgram, pathOf } from './go-program.ts';

/** An S3 server that keeps its objects in a folder. */
const versitygw = {
  name: 'versitygw',
  package: 'github.com/versity/versitygw/cmd/versitygw',
  version: 'v1.8.0',
};

export const versitygwProgram = pathOf(versitygw);
export const buildVersitygw = (): void => buildGoProgram(versitygw);
