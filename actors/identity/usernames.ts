/**
 * Names of accounts (docs/protocol/authentication.md, "Registration"). The rules apply when a name is chosen;
 * signing in takes any text.
 */

const specials = '._@+-';
const wellFormed = new RegExp(`^[\\p{L}\\p{N}]+(?:[${specials}][\\p{L}\\p{N}]+)*$`, 'u');
const charactersMin = 3;
const charactersMax = 100;

export function normaliseUsername(text: string): string {
  return text.trim().toLowerCase();
}

/** Takes a normalised name. */
export function isValidUsername(name: string): boolean {
  return (
    name.length >= charactersMin && name.length <= charactersMax && wellFormed.test(name) && isOneForm(name)
  );
}

/**
 * Refuses full-width letters, ligatures and the like: mail, and people, read them as other letters, so two accounts
 * would share one name. The name is not mapped, as clients derive keys from the name they sent.
 */
const isOneForm = (name: string): boolean => name.normalize('NFKC').toLowerCase() === name;

/**
 * A client's "private username" is a hash of the name that its user typed. For such an account no user agents are stored.
 */
export function isPrivateUsername(name: string): boolean {
  return name.length === 64 && !name.includes('@');
}

export const defaultWorkspace = 'default';

/** The workspace an account belongs to: always the default one unless several per e-mail are enabled. */
export function normaliseWorkspace(text: string | null | undefined, workspacesPerEmail: boolean): string {
  const name = text?.normalize('NFC').trim() ?? '';
  return workspacesPerEmail && name !== '' ? name : defaultWorkspace;
}
