import type { DatabaseEntry, Library, LoadOptions } from './snjs.ts';

/**
 * The client's view of its machine: key-value storage, a database of payloads and a keychain, all in the memory of
 * the page. One page is one device with one application. So the identifier that the client passes to each call never
 * distinguishes applications and is left out.
 */
export class Storage {
  readonly environment: number;
  #library: Library;
  #values = new Map<string, string>();
  #entries = new Map<string, DatabaseEntry>();
  #keychain: unknown;

  constructor(library: Library) {
    this.#library = library;
    this.environment = library.Environment.Web;
  }

  async getRawStorageValue(key: string): Promise<string | undefined> {
    return this.#values.get(key);
  }

  async getJsonParsedRawStorageValue(key: string): Promise<unknown> {
    const value = this.#values.get(key);
    return value === undefined ? undefined : JSON.parse(value);
  }

  async setRawStorageValue(key: string, value: string): Promise<void> {
    this.#values.set(key, value);
  }

  async removeRawStorageValue(key: string): Promise<void> {
    this.#values.delete(key);
  }

  async removeRawStorageValuesForIdentifier(): Promise<void> {
    this.#values.clear();
  }

  async openDatabase(): Promise<{ isNewDatabase: boolean }> {
    return { isNewDatabase: this.#entries.size === 0 };
  }

  async getDatabaseLoadChunks(options: LoadOptions): Promise<object> {
    const sorted = this.#library.GetSortedPayloadsByPriority([...this.#entries.values()], options);
    const rest = [...sorted.contentTypePriorityPayloads, ...sorted.remainingPayloads];
    return {
      fullEntries: {
        itemsKeys: { entries: sorted.itemsKeyPayloads },
        keySystemRootKeys: { entries: sorted.keySystemRootKeyPayloads },
        keySystemItemsKeys: { entries: sorted.keySystemItemsKeyPayloads },
        remainingChunks: rest.length === 0 ? [] : [{ entries: rest }],
      },
      remainingChunksItemCount: rest.length,
    };
  }

  async getAllDatabaseEntries(): Promise<DatabaseEntry[]> {
    return [...this.#entries.values()];
  }

  async getDatabaseEntries(_identifier: string, uuids: string[]): Promise<DatabaseEntry[]> {
    return uuids.flatMap((uuid) => this.#entries.get(uuid) ?? []);
  }

  async saveDatabaseEntries(entries: DatabaseEntry[]): Promise<void> {
    for (const entry of entries) this.#entries.set(entry.uuid, entry);
  }

  async removeDatabaseEntry(uuid: string): Promise<void> {
    this.#entries.delete(uuid);
  }

  async removeAllDatabaseEntries(): Promise<void> {
    this.#entries.clear();
  }

  async getNamespacedKeychainValue(): Promise<unknown> {
    return this.#keychain;
  }

  async setNamespacedKeychainValue(value: unknown): Promise<void> {
    this.#keychain = value;
  }

  async clearNamespacedKeychainValue(): Promise<void> {
    this.#keychain = undefined;
  }

  deinit(): void {}
}
