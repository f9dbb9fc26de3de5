/** One request in a client's form, and its answer in the form that a client reads. */

export interface Call {
  /** Sent as JSON. Without it there is no body, but the type is still declared, as clients do. */
  readonly body?: unknown;
  /** An alternative body, sent unchanged. */
  readonly text?: string;
  readonly bearer?: string | undefined;
  readonly cookie?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly setCookies: readonly string[];
  /** The content of the envelope, or the body itself if there is none; undefined if the body is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at as a client would
  readonly body: any;
  /** `meta` of the envelope, undefined if there is none. */
  readonly meta: Meta | undefined;
  readonly text: string;
}

interface Meta {
  readonly auth: { readonly userUuid?: string; readonly roles?: readonly { readonly name: string }[] };
  readonly server: { readonly filesServerUrl: string };
}

/** The address of the clients in these tests, which a proxy on the same machine reports. */
export const clientAddress = '203.0.113.7';

export async function call(
  url: string,
  method: string,
  path: string,
  { body, text: rawText, bearer, cookie, headers = {} }: Call = {},
): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'user-agent': '',
      'x-forwarded-for': clientAddress,
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(cookie && { cookie }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(rawText !== undefined && { body: rawText }),
    redirect: 'manual',
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    setCookies: answer.headers.getSetCookie(),
    text,
    ...unwrapped(text, answer.headers.get('content-type') ?? ''),
  };
}

function unwrapped(text: string, type: string): Pick<Answer, 'body' | 'meta'> {
  if (text === '') return { body: undefined, meta: undefined };
  if (!type.startsWith('application/json')) return { body: text, meta: undefined };
  const parsed = JSON.parse(text);
  return { body: parsed?.data ?? parsed, meta: parsed?.meta };
}
