import type { RouteRefusal } from '../http/refusal-status.ts';

export interface Refused {
  readonly refused: RouteRefusal;
}

/** Statuses as the code host gives them, some of which the domain has no word for. */
export const refuse = (status: number, message: string, tag?: string): Refused => ({
  refused: { status, message, tag },
});
