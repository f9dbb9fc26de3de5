/** The sizes that an import works with. They are told to it, so that another release may choose others. */
import { revisionsPerItemMax } from '../collection/revisions/slots.ts';

const mebibyte = 1_048_576;

export const importLimits = {
  /** A call that brings more holds up its actor for too long. A single larger item comes alone. */
  batchBytes: 2 * mebibyte,
  batchItems: 500,
  filePartBytes: 4 * mebibyte,
  revisionsPerItemMax,
} as const;

/** The largest call: an item of the largest size, or a part of a file, and what is around it. */
export const importCallBytesMax = (contentBytesMax: number): number =>
  Math.max(contentBytesMax, importLimits.filePartBytes) + 4 * mebibyte;
