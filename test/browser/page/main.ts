/** The page's interface for the test: one device, in parts that share one client library. */
import { Client } from './client.ts';
import { Files } from './files.ts';
import { Lane } from './lane.ts';
import { Vaults } from './vaults.ts';

const client = new Client();
const application = () => client.application;
Object.assign(globalThis, {
  client,
  files: new Files(application),
  vaults: new Vaults(application),
  lane: new Lane(),
});
