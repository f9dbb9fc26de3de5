/** Reads a test runner's TAP output, line by line, and finds the files of its tests. */
import { existsSync } from 'node:fs';

export interface TapListener {
  passed(title: string): void;
  skipped(title: string): void;
  failed(title: string): void;
  /** One more line about the test that failed last: its error and its notes. */
  reason(title: string, line: string): void;
  /** A line that belongs to no test. */
  other(line: string): void;
}

const aboutTest = /^(not )?ok \d+ - (.*?)( # (?:SKIP|TODO).*)?$/;
/** The version, the plan, the counts, and the headings of notes; notes themselves are indented. */
const aboutRun = /^(TAP|\d+\.\.|# \S)/;

export function tapReader(listener: TapListener): (line: string) => void {
  let failed: string | undefined;
  return (line) => {
    const [, not, title, directive] = aboutTest.exec(line) ?? [];
    if (title !== undefined) {
      failed = not === undefined || directive !== undefined ? undefined : title;
      if (directive !== undefined) listener.skipped(title);
      else if (failed === undefined) listener.passed(title);
      else listener.failed(title);
    } else if (aboutRun.test(line)) failed = undefined;
    else if (failed !== undefined) listener.reason(failed, line);
    else if (!line.startsWith('#')) listener.other(line);
  };
}

/** The file of a test, by the title that the runner gives it: `test › races › bans › what it shows`. */
export function fileOfTest(
  title: string,
  exists: (file: string) => boolean = existsSync,
): string | undefined {
  const parts = title.split(' › ');
  return parts
    .map((_, index) => `${parts.slice(0, index + 1).join('/')}.test.ts`)
    .find((file) => exists(file));
}
