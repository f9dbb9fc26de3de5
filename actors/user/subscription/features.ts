/** What every account may use, under the identifiers that clients know. */

const identifiers = [
  'org.standardnotes.advanced-checklist',
  'org.standardnotes.bold-editor',
  'org.standardnotes.code-editor',
  'org.standardnotes.daily-email-backup',
  'org.standardnotes.files',
  'org.standardnotes.files-max-storage-tier',
  'org.standardnotes.markdown-editor',
  'org.standardnotes.note-history-unlimited',
  'org.standardnotes.plus-editor',
  'org.standardnotes.shared-vaults',
  'org.standardnotes.smart-filters',
  'org.standardnotes.standard-sheets',
  'org.standardnotes.subscription-sharing',
  'org.standardnotes.tag-nesting',
  'org.standardnotes.token-vault',
  'org.standardnotes.two-factor-auth',
  'org.standardnotes.universal-second-factor',
  'org.standardnotes.vaults',
  'com.sncommunity.advanced-checklist',
  'com.standardnotes.sign-in-alerts',
  'com.standardnotes.super-editor',
] as const;

export const features = identifiers.map((identifier) => ({
  identifier,
  name: nameOf(identifier),
  permission_name: permissionOf(identifier),
  no_expire: true,
  role_name: 'PRO_USER',
}));

/** `org.standardnotes.tag-nesting` is "Tag Nesting". */
function nameOf(identifier: string): string {
  const words = lastPart(identifier).split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}

function permissionOf(identifier: string): string {
  return `server:${lastPart(identifier)}`;
}

function lastPart(identifier: string): string {
  return identifier.slice(identifier.lastIndexOf('.') + 1);
}
