import { existsSync } from 'node:fs';

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
