/** Why checks and tests have failed, to be told once more at the end: the end of a log is often all that is kept of it. */

/** Of each that failed. */
const shownLinesMax = 40;
const shownErrorLinesMax = 30;
/** Of all that failed: with many of them, the first are told. */
const allShownLinesMax = 200;
const keptLinesMax = 1_000;

/** How a test reporter begins what a test has written down beside its error. */
const noteMark = '#';

export class Reasons {
  readonly #linesOf = new Map<string, string[]>();

  add(title: string, line: string): void {
    const lines = this.#linesOf.get(title) ?? [];
    this.#linesOf.set(title, lines);
    if (lines.length < keptLinesMax) lines.push(line);
  }

  /** Of the given ones, each under its title. */
  of(titles: readonly string[]): readonly string[] {
    const told: string[] = [];
    for (const title of titles) {
      const reason = excerpt(this.#linesOf.get(title) ?? []);
      if (reason.length === 0) continue;
      if (told.length + reason.length > allShownLinesMax) return [...told, 'More stands further up.'];
      told.push(`${title}:`, ...reason.map((line) => `    ${line}`));
    }
    return told;
  }
}

/** Of an error its beginning, of the notes that lead to it their end. */
function excerpt(lines: readonly string[]): readonly string[] {
  const isNote = (line: string) => line.startsWith(noteMark);
  const errors = lines.filter((line) => !isNote(line));
  const notes = lines.filter(isNote);
  const notesLeast = Math.min(notes.length, shownLinesMax - shownErrorLinesMax);
  const shownErrors = errors.slice(0, shownLinesMax - notesLeast);
  const shownNotes = notes.slice(Math.max(0, notes.length - (shownLinesMax - shownErrors.length)));
  const left = lines.length - shownErrors.length - shownNotes.length;
  return [...shownNotes, ...shownErrors, ...(left > 0 ? [`(${left} more lines stand further up)`] : [])];
}
