import type { Library } from './snjs.ts';
import type { Displayable, Result } from './snjs-answers.ts';

declare const SNLibrary: Library;

/** @throws Error with the library's message for its user if there is no other result */
export function okOf<T>(result: Result<T>): T {
  const error = errorOf(result);
  if (error !== undefined) throw new Error(error);
  return result.getValue();
}

export const errorOf = (result: Result<unknown>): string | undefined =>
  result.isFailed() ? result.getError() : undefined;

/** As {@link okOf}, for services that return either the result or a message for the user. */
export function displayable<T>(answer: T | Displayable): T {
  if (answer instanceof SNLibrary.ClientDisplayableError) throw new Error(answer.text);
  return answer as T;
}
