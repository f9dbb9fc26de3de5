/** How commands are declared: one function that adds them to the program. */
import { Command, InvalidArgumentError } from 'commander';
import type { CommandSession } from '../session.ts';

type SessionWork =
  | ((session: CommandSession) => Promise<void>)
  | ((session: CommandSession) => Promise<number>);

/** Runs a command's work with a session, and exits with its code, or 0 if it returns none. */
export type RunWithSession = (work: SessionWork) => Promise<void>;

export type AddCommands = (program: TeachingCommand, run: RunWithSession) => void;

/** A command whose help also teaches when to use it, with examples. */
export class TeachingCommand extends Command {
  override createCommand(name?: string): TeachingCommand {
    return new TeachingCommand(name);
  }

  teach(when: string, ...examples: readonly string[]): this {
    const lines = examples.map((example) => `  $ scriptorium ${example}`).join('\n');
    return this.addHelpText('after', `\nWhen to use it:\n${wrapped(when)}\n\nExamples:\n${lines}\n`);
  }
}

const indent = '  ';
const widthMax = 98;

function wrapped(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > widthMax - indent.length) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${indent}${each}`).join('\n');
}

export const millisecondsArgument = (text: string) => parseWholeNumber(text, 1, 86_400_000);
export const rowLimit = (text: string) => parseWholeNumber(text, 1, 1_000);

export function parseWholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`It is not a whole number from ${min} to ${max}.`);
}

/** Accepts the same values as the setting SHARD_COUNT. */
export function shardCount(text: string): number {
  const value = parseWholeNumber(text, 1, 65_536);
  if ((value & (value - 1)) === 0) return value;
  throw new InvalidArgumentError('It is not a power of two.');
}
