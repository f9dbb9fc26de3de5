/** The sizes that an import works with. The server tells them to its client, so that another release may choose others. */
import { revisionsPerItemMax } from '../collection/revisions/slots.ts';

const mebibyte = 1_048_576;

export const importLimits = {
  /** A larger call would block its actor for too long. A single larger item comes alone. */
  batchBytes: 2 * mebibyte,
  batchItems: 500,
  filePartBytes: 4 * mebibyte,
  revisionsPerItemMax,
} as const;

/** The largest call: an item of the largest size, or a part of a file, and the fields around it. */
export const importCallBytesMax = (contentBytesMax: number): number =>
  Math.max(contentBytesMax, importLimits.filePartBytes) + 4 * mebibyte;
