/** Reads a sync token as the server makes it: one position of one generation for the user's own collection. */
export function positionOf(token: string): { readonly generation: string; readonly position: number } {
  const [, mark = ''] = Buffer.from(token, 'base64url').toString('latin1').split(':');
  const [, generation = '', position = '0'] = mark.split('.');
  return { generation, position: Number(position) };
}
