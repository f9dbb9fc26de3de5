import { InvalidArgumentError } from 'commander';

export const milliseconds = (text: string) => wholeNumber(text, 1, 86_400_000);
export const rowLimit = (text: string) => wholeNumber(text, 1, 1_000);

export function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`It is not a whole number from ${min} to ${max}.`);
}

/** As SHARD_COUNT. */
export function shardCount(text: string): number {
  const value = wholeNumber(text, 1, 65_536);
  if ((value & (value - 1)) === 0) return value;
  throw new InvalidArgumentError('It is not a power of two.');
}
