import { readFileSync } from 'node:fs';
import { CommandFailure, exitCodes } from './failure.ts';

/** Reads a file from the command line. Errors call it `name`. @throws CommandFailure */
export function readInputFile(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CommandFailure(exitCodes.usage, `${name} cannot be read: ${(error as Error).message}.`);
  }
}
