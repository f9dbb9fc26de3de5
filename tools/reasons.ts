/** Repeats at the end why checks and tests have failed, because often only the end of a log is kept. */

/** For each failure. */
const shownLinesMax = 40;
const shownErrorLinesMax = 30;
/** For all failures: if there are many, only the first appear. */
const allShownLinesMax = 200;
const keptLinesMax = 1_000;

/** The prefix of a test reporter for the notes beside an error. */
const noteMark = '#';

export class Reasons {
  readonly #linesOf = new Map<string, string[]>();

  add(title: string, line: string): void {
    const lines = this.#linesOf.get(title) ?? [];
    this.#linesOf.set(title, lines);
    if (lines.length < keptLinesMax) lines.push(line);
  }

  /** The given reasons, each under its title. */
  of(titles: readonly string[]): readonly string[] {
    const lines: string[] = [];
    for (const title of titles) {
      const reason = excerpt(this.#linesOf.get(title) ?? []);
      if (reason.length === 0) continue;
      if (lines.length + reason.length > allShownLinesMax) return [...lines, 'More stands further up.'];
      lines.push(`${title}:`, ...reason.map((line) => `    ${line}`));
    }
    return lines;
  }
}

/** The beginning of an error, and the end of the notes that lead to it. */
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
