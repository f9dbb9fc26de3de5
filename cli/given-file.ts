import { readFileSync } from 'node:fs';
import { exitCodes, Failure } from './failure.ts';

/** A file that was named on the command line, as `name` in what is said where it cannot be read. @throws Failure */
export function readGivenFile(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Failure(exitCodes.usage, `${name} cannot be read: ${(error as Error).message}.`);
  }
}
