/** The mail server of the tests. */
import type { Environment } from './program.ts';
import { findOrMakePython } from './python.ts';

const aiosmtpd = {
  name: 'aiosmtpd',
  version: '1.4.6',
  packages: ['aiosmtpd==1.4.6', 'atpublic==9.0.0', 'attrs==26.1.0'],
};

/** The Python that has it. @throws Error, one line, if it cannot be installed */
export const findOrMakeAiosmtpd = (environment: Environment): string =>
  findOrMakePython(aiosmtpd, environment);
