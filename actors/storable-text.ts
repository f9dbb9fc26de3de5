/** The database cannot store NUL, and UTF-8 cannot encode half of a surrogate pair: such text would fail or come back changed. */
export function isStorableText(value: string): boolean {
  // Every supported Node has the method; the language level of the types does not.
  const text = value as string & { isWellFormed(): boolean };
  return text.isWellFormed() && !text.includes('\0');
}
