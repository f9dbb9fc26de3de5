/**
 * Every setting, by the name of its environment variable (design section 8). Where operators of the existing server
 * know a name (auth.md 19), it is kept, with its unit. `docs/configuration.md` is generated from these.
 */
import { accessSettings } from './settings/access.ts';
import { accountSettings } from './settings/accounts.ts';
import { browserSettings } from './settings/browsers.ts';
import { clusterSettings, internalApiSettings } from './settings/cluster.ts';
import { dataSettings } from './settings/data.ts';
import { serverSettings } from './settings/server.ts';
import { sessionSettings } from './settings/sessions.ts';

export const settings = {
  ...serverSettings,
  ...dataSettings,
  ...sessionSettings,
  ...accountSettings,
  ...browserSettings,
  ...accessSettings,
  ...clusterSettings,
  ...internalApiSettings,
};
