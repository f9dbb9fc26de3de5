/**
 * The content types clients know (docs/protocol/sync.md, "Content types"). They refuse to map an item of any other
 * type, so no other may be stored.
 */
const contentTypes: ReadonlySet<string> = new Set([
  '*',
  'Extension',
  'Folder',
  'Note',
  'SF|Item',
  'SN|Component',
  'SN|Editor',
  'SN|EncryptedStorage',
  'SN|ExtensionRepo',
  'SN|File',
  'SN|FileSafe|Credentials',
  'SN|FileSafe|FileMetadata',
  'SN|FileSafe|Integration',
  'SN|HistorySession',
  'SN|ItemsKey',
  'SN|KeySystemItemsKey',
  'SN|KeySystemRootKey',
  'SN|RootKey|NoSync',
  'SN|SmartTag',
  'SN|Theme',
  'SN|TrustedContact',
  'SN|UserPreferences',
  'SN|VaultListing',
  'Tag',
]);

/** What a client needs before it can show anything else, and so gets on the first page of a first sync. */
export const frontContentTypes = ['SN|ItemsKey', 'SN|UserPreferences', 'SN|Theme'] as const;

/** Clients compute integrity without these (docs/protocol/sync.md, "Integrity"). */
export const itemsKeyContentType = 'SN|ItemsKey';

/** A missing content type is not known; a null one is. */
export function isKnownContentType(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && contentTypes.has(value));
}

export const importedContentTypes: readonly string[] = [...contentTypes];
