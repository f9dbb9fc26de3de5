/** What item sync is told from outside. */
export { defaultItemSettings, type ItemSettings } from '../../settings.ts';
