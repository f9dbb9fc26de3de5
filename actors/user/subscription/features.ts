/**
 * The features of every account, with the identifiers, permissions and descriptors that clients know. A client compares them
 * with its own list, and locks a feature that is missing here.
 */
import { z } from 'zod';

export const featureSchema = z.object({
  identifier: z.string(),
  name: z.string(),
  permission_name: z.string(),
  content_type: z.string().optional(),
  area: z.string().optional(),
  index_path: z.string().optional(),
  note_type: z.string().optional(),
  file_type: z.string().optional(),
  interchangeable: z.boolean().optional(),
  layerable: z.boolean().optional(),
  isDark: z.boolean().optional(),
  deprecated: z.boolean().optional(),
  no_expire: z.literal(true),
  role_name: z.literal('PRO_USER'),
});
export type Feature = z.infer<typeof featureSchema>;
type Descriptor = Omit<Feature, 'identifier' | 'name' | 'permission_name' | 'no_expire' | 'role_name'>;

function feature(identifier: string, permission_name: string, descriptor: Descriptor = {}): Feature {
  const name = nameOf(identifier);
  return { identifier, name, permission_name, ...descriptor, no_expire: true, role_name: 'PRO_USER' };
}

/** `org.standardnotes.tag-nesting` is "Tag Nesting". */
function nameOf(identifier: string): string {
  const words = lastPart(identifier).split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}

const lastPart = (identifier: string): string => identifier.slice(identifier.lastIndexOf('.') + 1);

const ofServer = (identifier: string, permission = lastPart(identifier)): Feature =>
  feature(identifier, `server:${permission}`);
const ofApp = (identifier: string): Feature => feature(identifier, `app:${lastPart(identifier)}`);

const theme = (identifier: string, permission: string, descriptor: Descriptor = {}): Feature =>
  feature(identifier, `theme:${permission}`, {
    content_type: 'SN|Theme',
    area: 'themes',
    index_path: 'index.css',
    ...descriptor,
  });

const component = { content_type: 'SN|Component', area: 'editor-editor', index_path: 'dist/index.html' };

const editor = (identifier: string, permission: string, note_type: string, descriptor: Descriptor): Feature =>
  feature(identifier, `editor:${permission}`, { ...component, note_type, ...descriptor });

const oldEditor = (
  identifier: string,
  permission: string,
  { note_type = '', ...descriptor }: Descriptor,
): Feature =>
  editor(identifier, permission, note_type, { interchangeable: true, deprecated: true, ...descriptor });

const atRoot = { index_path: 'index.html' };
const own = 'org.standardnotes';

export const features: readonly Feature[] = [
  ofServer(`${own}.two-factor-auth`),
  ofServer(`${own}.universal-second-factor`),
  ofServer(`${own}.note-history-30`, 'note-history-30-days'),
  ofServer(`${own}.note-history-365`, 'note-history-365-days'),
  ofServer(`${own}.note-history-unlimited`),
  ofServer(`${own}.daily-email-backup`),
  ofServer('com.standardnotes.sign-in-alerts'),
  ofServer(`${own}.files-max-storage-tier`),
  ofServer(`${own}.files-low-storage-tier`),
  ofServer(`${own}.subscription-sharing`),
  ofServer(`${own}.shared-vaults`),
  feature(`${own}.listed-custom-domain`, 'listed:custom-domain'),
  ofApp(`${own}.tag-nesting`),
  ofApp(`${own}.smart-filters`),
  ofApp(`${own}.files`),
  ofApp(`${own}.clipper`),
  ofApp(`${own}.vaults`),
  ofApp(`${own}.folders`),

  theme(`${own}.theme-midnight`, 'midnight', { isDark: true }),
  theme(`${own}.theme-futura`, 'futura', { isDark: true }),
  theme(`${own}.theme-solarized-dark`, 'solarized-dark', { isDark: true }),
  theme(`${own}.theme-autobiography`, 'autobiography'),
  theme(`${own}.theme-focus`, 'focused', { isDark: true }),
  theme('com.standardnotes.theme-proton', 'proton'),
  theme(`${own}.theme-titanium`, 'titanium'),
  theme(`${own}.theme-dynamic`, 'dynamic', { layerable: true }),

  feature('com.standardnotes.plain-text', 'editor:plain', {
    note_type: 'plain-text',
    file_type: 'txt',
    interchangeable: true,
  }),
  feature('com.standardnotes.super-editor', 'editor:super-editor', {
    note_type: 'super',
    file_type: 'json',
    interchangeable: false,
  }),
  editor(`${own}.token-vault`, 'token-vault', 'authentication', {
    file_type: 'json',
    interchangeable: false,
  }),
  editor(`${own}.standard-sheets`, 'sheets', 'spreadsheet', { file_type: 'json', interchangeable: false }),
  feature('com.sncommunity.advanced-checklist', 'editor:advanced-checklist', {
    ...component,
    note_type: 'task',
    file_type: 'json',
    interchangeable: false,
  }),
  oldEditor(`${own}.code-editor`, 'code-editor', { note_type: 'code', file_type: 'txt', ...atRoot }),
  oldEditor(`${own}.plus-editor`, 'plus', { note_type: 'rich-text', file_type: 'html' }),
  oldEditor(`${own}.bold-editor`, 'bold', { note_type: 'rich-text', file_type: 'html' }),
  oldEditor(`${own}.simple-task-editor`, 'task-editor', {
    note_type: 'task',
    file_type: 'md',
    interchangeable: false,
  }),
  oldEditor(`${own}.advanced-markdown-editor`, 'markdown-pro', { note_type: 'markdown', file_type: 'md' }),
  oldEditor(`${own}.simple-markdown-editor`, 'markdown-basic', { note_type: 'markdown', file_type: 'md' }),
  oldEditor(`${own}.minimal-markdown-editor`, 'markdown-minimist', {
    note_type: 'markdown',
    file_type: 'md',
    ...atRoot,
  }),
  oldEditor(`${own}.fancy-markdown-editor`, 'markdown-math', {
    note_type: 'markdown',
    file_type: 'md',
    ...atRoot,
  }),
  oldEditor(`${own}.markdown-visual-editor`, 'markdown-visual', {
    note_type: 'markdown',
    file_type: 'md',
    index_path: 'build/index.html',
  }),
  feature(`${own}.file-safe`, 'component:filesafe', {
    ...component,
    area: 'editor-stack',
    interchangeable: true,
    deprecated: true,
  }),
  feature(`${own}.legacy.file-safe`, 'component:filesafe', {
    ...component,
    area: 'editor-stack',
    interchangeable: true,
    deprecated: true,
  }),
];
