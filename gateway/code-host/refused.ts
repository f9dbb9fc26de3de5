import type { RouteRefusal } from '../http/refusal-status.ts';

export interface Refused {
  readonly refused: RouteRefusal;
}

/** Statuses as the code host gives them. The domain has no error for some of them. */
export const refuse = (status: number, message: string, tag?: string): Refused => ({
  refused: { status, message, tag },
});
