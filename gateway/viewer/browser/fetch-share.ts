/** Fetches the content of a share from the server, which may give it only once. */
export type Fetched =
  | { readonly fetched: 'payload'; readonly payload: string }
  | { readonly fetched: 'gone' | 'too-many' | 'refused' | 'unreachable' };

export async function fetchShare(shareId: string): Promise<Fetched> {
  try {
    const answer = await fetch(`v1/shares/${shareId}`, { credentials: 'omit', redirect: 'error' });
    if (answer.status === 404) return { fetched: 'gone' };
    if (answer.status === 429) return { fetched: 'too-many' };
    if (!answer.ok) return { fetched: 'refused' };
    const { encryptedPayload } = (await answer.json()) as { readonly encryptedPayload: unknown };
    return { fetched: 'payload', payload: String(encryptedPayload) };
  } catch {
    return { fetched: 'unreachable' };
  }
}
