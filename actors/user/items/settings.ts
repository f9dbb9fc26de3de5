/** Limits of item sync that operators set. All sizes in bytes. */
export interface ItemSettings {
  /** `ITEM_CONTENT_LIMIT`: ciphertext of one item; beyond it `content_error`. */
  readonly contentLimitBytes: number;
  /** `CONTENT_SIZE_TRANSFER_LIMIT`: a page of a sync ends with the item that reaches this. */
  readonly transferLimitBytes: number;
}

export const defaultItemSettings: ItemSettings = {
  contentLimitBytes: 16 * 1024 * 1024,
  transferLimitBytes: 10_000_000,
};
