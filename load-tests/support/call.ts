/** Requests, tagged by operation and slice, and checked. */
import { check } from 'k6';
import http, { type RefinedResponse, type RequestBody } from 'k6/http';
import { Counter } from 'k6/metrics';
import { answerName, wrong } from '../report/answers.ts';
import type { Operation } from './operations.ts';
import { slice } from './slice.ts';
import { baseUrl } from './users.ts';

export const api = '20200115';
/** Longer than a request waits for a shard that is between owners. */
const timeout = '60s';

export interface Call {
  readonly operation: Operation;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is bytes. */
  readonly body?: object | ArrayBuffer;
  /** If the bytes of the answer do not matter. */
  readonly isBodyDropped?: boolean;
  readonly status?: number;
}

export type Reply = RefinedResponse<'text' | 'none'>;

/** The answer, if it is correct. */
export function call<T>(request: Call, read: (reply: Reply) => T | undefined): T | undefined {
  const reply = http.request(
    request.method ?? 'POST',
    `${baseUrl()}${request.path}`,
    bodyOf(request),
    paramsOf(request),
  );
  return checked(request, reply, read);
}

/** The same without blocking the VU's other events. */
export async function asyncCall<T>(
  request: Call,
  read: (reply: Reply) => T | undefined,
): Promise<T | undefined> {
  const reply = await http.asyncRequest(
    request.method ?? 'POST',
    `${baseUrl()}${request.path}`,
    bodyOf(request),
    paramsOf(request),
  );
  return checked(request, reply, read);
}

const failedAnswers = new Counter('failed_answers');

function checked<T>(
  { operation, status = 200 }: Call,
  reply: Reply,
  read: (reply: Reply) => T | undefined,
): T | undefined {
  const isExpected = reply.status === status;
  const result = isExpected ? read(reply) : undefined;
  if (result === undefined) failedAnswers.add(1, { answer: isExpected ? wrong : answerName(reply.status) });
  check(reply, { [operation]: () => result !== undefined }, { operation });
  return result;
}

function bodyOf({ body }: Call): RequestBody | null {
  if (body === undefined || body instanceof ArrayBuffer) return body ?? null;
  return JSON.stringify(body);
}

function paramsOf({ operation, token, headers, body, isBodyDropped = false }: Call) {
  const type = body instanceof ArrayBuffer ? 'application/octet-stream' : 'application/json';
  return {
    headers: {
      ...(body !== undefined && { 'content-type': type }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      'x-snjs-version': '2.211.1',
      ...headers,
    },
    // Otherwise each file and each socket would get a tag of its own.
    tags: { operation, name: operation, slice: slice() },
    timeout,
    responseType: isBodyDropped ? ('none' as const) : ('text' as const),
  };
}

/** The data in the envelope. */
export function dataOf<T>(reply: Reply): T | undefined {
  const { data } = JSON.parse(reply.body ?? '{}') as { data?: T };
  return data;
}
