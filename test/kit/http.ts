/** One request as a client sends it, and its answer as a client reads it. */

export interface Call {
  /** Sent as JSON. Without it there is no body; as clients do, the type is declared all the same. */
  readonly body?: unknown;
  /** Instead: sent as it is. */
  readonly text?: string;
  readonly bearer?: string | undefined;
  readonly cookie?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly setCookies: readonly string[];
  /** What the envelope holds, or the body itself where there is none; undefined where nothing was sent. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at as a client would
  readonly body: any;
  /** `meta` of the envelope, undefined where there is none. */
  readonly meta: Meta | undefined;
  readonly text: string;
}

interface Meta {
  readonly auth: { readonly userUuid?: string; readonly roles?: readonly { readonly name: string }[] };
  readonly server: { readonly filesServerUrl: string };
}

/** Where the clients of these tests are: a proxy on the same machine says so. */
export const clientAddress = '203.0.113.7';

export async function call(
  url: string,
  method: string,
  path: string,
  { body, text: given, bearer, cookie, headers = {} }: Call = {},
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
    ...(given !== undefined && { body: given }),
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
