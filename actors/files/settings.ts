/** Settings of files. Sizes in bytes. */
import { dependency } from '../../runtime/dependency.ts';
import {
  bytes,
  defaultsOf,
  mebibyte,
  type SettingsOf,
  sameOnAllNodes,
  seconds,
  section,
} from '../../runtime/setting.ts';

export const fileSettings = sameOnAllNodes(
  section('Files', {
    accountBytesMax: bytes({
      name: 'ACCOUNT_FILE_BYTES_MAX',
      min: 0,
      default: 107_374_182_400,
      description:
        'The most ciphertext that the files of an account take. Uploads beyond it are refused; deleting makes room. 0 means no limit.',
    }),
    fileBytesMax: bytes({
      name: 'FILE_BYTES_MAX',
      min: mebibyte,
      max: 16 * 1_024 * mebibyte,
      default: 5 * 1_024 * mebibyte,
      description: 'The largest file.',
    }),
    valetTokenAgeMs: seconds({
      name: 'VALET_TOKEN_TTL',
      min: 60,
      max: 86_400,
      default: 7_200,
      description:
        'The lifetime of a token with which a client uploads or downloads one file. A whole upload has to finish within it.',
    }),
  }),
);
export interface FileSettings extends SettingsOf<typeof fileSettings> {}
export const FileSettings = dependency<FileSettings>('the settings of files');
export const defaultFileSettings: FileSettings = defaultsOf(fileSettings);
