import { NotFoundError } from '../runtime/errors.ts';

/** The answer of an actor; undefined if there is no such actor. */
export async function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
