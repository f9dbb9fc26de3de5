/** The settings of an account (docs/protocol/account.md, "Settings"). */
import { FileSettings } from '../../files/settings.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { userPart } from '../hooks.ts';
import { Settings } from './contract.ts';
import { settingCommands } from './settings.ts';
import { settingMap } from './stored.ts';

export const settings = userPart(Settings, {
  name: 'settings',
  uses: [FileSettings, UserSecrets],
  slices: [settingMap],
  commands: settingCommands,
});
