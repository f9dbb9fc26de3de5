/** Settings of items and of their history. Sizes in bytes. */
import { dependency } from '../../runtime/dependency.ts';
import {
  bytes,
  days,
  defaultsOf,
  fixed,
  integer,
  mebibyte,
  type SettingsOf,
  sameOnAllNodes,
  seconds,
  section,
} from '../../runtime/setting.ts';
import { revisionsPerItemMax } from './revisions/slots.ts';

export const itemSettings = sameOnAllNodes({
  ...section('Access and limits', {
    /** A page of a sync ends with the item that reaches this. */
    transferLimitBytes: bytes({
      name: 'CONTENT_SIZE_TRANSFER_LIMIT',
      min: 1,
      default: 10_000_000,
      description: 'The size at which a page of a sync ends.',
    }),
    /** Ciphertext of one item; beyond it `content_error`. */
    contentLimitBytes: bytes({
      name: 'ITEM_CONTENT_LIMIT',
      min: 1,
      max: 64 * mebibyte,
      default: 16 * mebibyte,
      description: 'The largest encrypted content of an item.',
    }),
    /** What an account may hold, so that nobody fills the disk of all. 0 is no limit. */
    quota: {
      items: integer({
        name: 'ACCOUNT_ITEMS_MAX',
        unit: 'items',
        min: 0,
        default: 1_000_000,
        description:
          'The most items of an account, deleted ones included, as they are kept for good. A sync that would go beyond is refused. 0 is no limit.',
      }),
      bytes: bytes({
        name: 'ACCOUNT_BYTES_MAX',
        min: 0,
        default: 10 * 1_024 * mebibyte,
        description:
          'The most encrypted content of an account. A sync that would go beyond is refused; deleting makes room. 0 is no limit.',
      }),
    },
    /** What one turn saves, so that no upload holds up the actor's other callers. */
    turnLimits: fixed({ items: 300, bytes: 4 * mebibyte }),
    /**
     * The most stored ciphertext that one call may bring into memory by naming items. It is several times the limit of an item,
     * and more than clients need. They send the items beyond it again.
     */
    storedBytesMax: fixed(32 * mebibyte),
  }),
  ...section('History', {
    revisions: {
      pauseMs: seconds({
        name: 'REVISIONS_FREQUENCY',
        min: 0,
        default: 300,
        description:
          'How long after a revision of a note or a file the next one is made. A save in between makes none.',
      }),
      perItemMax: integer({
        name: 'REVISIONS_PER_ITEM_MAX',
        unit: 'revisions',
        min: 1,
        max: revisionsPerItemMax,
        default: revisionsPerItemMax,
        description: 'The most revisions of an item; the oldest go first.',
      }),
      ageMs: days({
        name: 'REVISIONS_DAYS',
        min: 0,
        max: 36_500,
        default: 0,
        description: 'How long a revision is kept once its item was saved again. 0 is no limit.',
      }),
      bytesMax: bytes({
        name: 'ACCOUNT_REVISIONS_BYTES_MAX',
        min: 128 * mebibyte,
        default: 10 * 1_024 * mebibyte,
        description:
          'The most encrypted content that the revisions of an account take, beside `ACCOUNT_BYTES_MAX`. The oldest go first, and no save is refused for it.',
      }),
    },
  }),
});
export interface ItemSettings extends SettingsOf<typeof itemSettings> {
  /**
   * The generation of this server's sync tokens. It is random and lives as long as the database, which keeps it. Nobody sets
   * it.
   */
  readonly generation: string;
}
export const ItemSettings = dependency<ItemSettings>('the settings of items');
export const defaultItemSettings: ItemSettings = { ...defaultsOf(itemSettings), generation: 'default' };
