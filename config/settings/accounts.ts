import { defaultAccountSettings as defaults } from '../../actors/settings.ts';
import { flag, list, setting } from '../setting.ts';

const group = 'Accounts';

export const accountSettings = {
  DISABLE_USER_REGISTRATION: setting({
    group,
    schema: flag,
    default: defaults.registrationDisabled,
    description: 'Refuses new accounts.',
  }),
  WORKSPACES_PER_EMAIL_ENABLED: setting({
    group,
    schema: flag,
    default: defaults.workspacesPerEmail,
    description: 'Allows several accounts with one e-mail address, told apart by a workspace.',
  }),
  READONLY_USERS: setting({
    group,
    schema: list,
    default: [],
    description: 'E-mail addresses, separated by commas, whose sessions may only read.',
  }),
  ADMIN_EMAILS: setting({
    group,
    schema: list,
    default: [],
    description: 'E-mail addresses, separated by commas, of the administrators.',
  }),
};
