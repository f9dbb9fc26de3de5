/**
 * Whether a recovery could use what a client leaves for it (docs/protocol/account.md, "Recovery of an account"). Asked when it
 * is stored, so that no user relies on what would never be found, and again when it is looked up.
 */

/** The first form was protected only by the password, so it is never handed out without it. */
export function isUsableEscrow(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    const { version } = (parsed ?? {}) as { readonly version?: unknown };
    return typeof version === 'number' && version > 1;
  } catch {
    return false;
  }
}
