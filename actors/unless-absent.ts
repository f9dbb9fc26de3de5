import { NotFoundError } from '../runtime/errors.ts';

/** What an actor answers; undefined if there is none. */
export async function unlessAbsent<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
