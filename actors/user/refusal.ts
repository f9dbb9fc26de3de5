import { z } from 'zod';

/** An answer of the domain that is not what was asked for; a reply like any other, with the error body of auth.md 1.2. */
export interface Refusal {
  readonly status: number;
  readonly tag?: string | undefined;
  readonly message: string;
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds after which asking again may help; sent as `Retry-After`. */
  readonly retryAfterMs?: number | undefined;
  /** Sent without the envelope, as the gateway's own refusals are (auth.md 1.1, "Not wrapped"). */
  readonly bare?: boolean | undefined;
}

export const refusalSchema: z.ZodType<Refusal> = z.object({
  status: z.number().int(),
  tag: z.string().optional(),
  message: z.string(),
  payload: z.record(z.string(), z.unknown()).optional(),
  retryAfterMs: z.number().optional(),
  bare: z.boolean().optional(),
});

export interface Refused {
  readonly refused: Refusal;
}

export function refuse(status: number, message: string, tag?: string): Refused {
  return { refused: { status, message, tag } };
}

export function isRefused(reply: unknown): reply is Refused {
  return typeof reply === 'object' && reply !== null && 'refused' in reply;
}
