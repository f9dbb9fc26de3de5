/** What item sync is told from outside. All sizes in bytes. */
export interface ItemSettings {
  /** Of the sync tokens this server gives out: random, as long as the database (see token.ts). */
  readonly generation: string;
  /** `ITEM_CONTENT_LIMIT`: ciphertext of one item; beyond it `content_error`. */
  readonly contentLimitBytes: number;
  /** `CONTENT_SIZE_TRANSFER_LIMIT`: a page of a sync ends with the item that reaches this. */
  readonly transferLimitBytes: number;
}

export const defaultItemSettings: ItemSettings = {
  generation: 'default',
  contentLimitBytes: 16 * 1024 * 1024,
  transferLimitBytes: 10_000_000,
};
