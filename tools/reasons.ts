/** Repeats at the end why checks and tests have failed, because often only the end of a log is kept. */

/** For each failure. */
const printedLinesMax = 40;
const errorLinesMax = 30;
/** For all failures: if there are many, only the first appear. */
const allLinesMax = 200;
const keptLinesMax = 1_000;

/** The prefix of a test reporter for the notes beside an error. */
const notePrefix = '#';

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
      if (lines.length + reason.length > allLinesMax) return [...lines, 'More stands further up.'];
      lines.push(`${title}:`, ...reason.map((line) => `    ${line}`));
    }
    return lines;
  }
}

/** The beginning of an error, and the end of the notes that lead to it. */
function excerpt(lines: readonly string[]): readonly string[] {
  const isNote = (line: string) => line.startsWith(notePrefix);
  const errors = lines.filter((line) => !isNote(line));
  const notes = lines.filter(isNote);
  const notesLeast = Math.min(notes.length, printedLinesMax - errorLinesMax);
  const printedErrors = errors.slice(0, printedLinesMax - notesLeast);
  const printedNotes = notes.slice(Math.max(0, notes.length - (printedLinesMax - printedErrors.length)));
  const left = lines.length - printedErrors.length - printedNotes.length;
  return [...printedNotes, ...printedErrors, ...(left > 0 ? [`(${left} more lines stand further up)`] : [])];
}
