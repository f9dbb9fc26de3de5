/**
 * Texts with the form and length of real ciphertext. Nobody can tell the two apart, or compress these. Made once for
 * all VUs.
 */
import { randomBytes } from 'k6/crypto';
import { SharedArray } from 'k6/data';
import { b64encode } from 'k6/encoding';

const usualBytes = 1_024;
const largeBytes = 100 * 1_024;

const random = (bytes: number): string => b64encode(randomBytes(Math.ceil((bytes * 3) / 4)));
const texts = (name: string, count: number, bytes: number) =>
  new SharedArray<string>(name, () => Array.from({ length: count }, () => `004:${random(bytes)}`));

const usual = texts('ciphertext', 64, usualBytes);
const large = texts('large ciphertext', 8, largeBytes);

const oneOf = (list: readonly string[]): string => list[Math.floor(Math.random() * list.length)] ?? '';

export const ciphertext = (): string => oneOf(usual);
export const largeCiphertext = (): string => oneOf(large);
