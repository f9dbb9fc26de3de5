/** Limits of item sync. All sizes in bytes. */
export interface ItemSettings {
  /** `ITEM_CONTENT_LIMIT`: ciphertext of one item; beyond it `content_error`. */
  readonly contentLimitBytes: number;
  /** `CONTENT_SIZE_TRANSFER_LIMIT`: a page of a sync ends with the item that reaches this. */
  readonly transferLimitBytes: number;
  /** A sync that uploads more than this is saved in several turns. */
  readonly turnLimitBytes: number;
  /** Likewise, in items. */
  readonly turnItemsMax: number;
  /** Items in one request; clients send 150. */
  readonly requestItemsMax: number;
}

export const defaultItemSettings: ItemSettings = {
  contentLimitBytes: 16 * 1024 * 1024,
  transferLimitBytes: 10_000_000,
  turnLimitBytes: 4 * 1024 * 1024,
  turnItemsMax: 1_000,
  requestItemsMax: 20_000,
};
