import { readFileSync } from 'node:fs';
import { CommandFailure } from './failure.ts';

/** Reads a file from the command line. Errors call it `name`. @throws CommandFailure */
export function readInputFile(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw CommandFailure.usage(`${name} cannot be read: ${(error as Error).message}.`);
  }
}
