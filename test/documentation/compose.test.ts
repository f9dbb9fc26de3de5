/** The commands of Compose in the documents, typed by a self-hoster. */
import test from 'ava';
import { buildComposeReader } from '../../tools/compose/compose.ts';
import { Device } from '../kit/device.ts';
import { commandsOf } from './commands.ts';
import { ComposeMachine } from './compose-machine.ts';

/** It builds the server, and starts it five times. */
const limitMs = 300_000;

const { makeFolder, makeSecretKey, makePassword, makeUrl, letServersRead, up } = commandsOf(
  'docs/kubernetes.md',
  'Without Kubernetes',
  ['makeFolder', 'makeSecretKey', 'makePassword', 'makeUrl', 'letServersRead', 'up'],
);
const { backUp, verify, copyOut } = commandsOf('docs/kubernetes.md', 'Back up with Compose', [
  'backUp',
  'verify',
  'copyOut',
]);
const { stop, drop, create, putAside, restore, start } = commandsOf(
  'docs/kubernetes.md',
  'Restore with Compose',
  ['stop', 'drop', 'create', 'putAside', 'restore', 'start'],
);
const { health, doctor, list, log, restart } = commandsOf('docs/operations.md', 'With Compose', [
  'health',
  'doctor',
  'list',
  'log',
  'restart',
]);

test.before(buildComposeReader);

test('a self-hoster starts the server with Compose, looks at it, backs it up and restores it', async (t) => {
  t.timeout(limitMs);
  const machine = await ComposeMachine.make(t);
  const type = (command: string): Promise<string> => machine.type(command);
  for (const command of [makeFolder, makeSecretKey, makePassword, makeUrl, letServersRead])
    await type(command);
  machine.set(`PUBLIC_URL=${machine.url}\n`);
  await type(up);
  const device = await Device.register(machine);
  await device.save();

  t.regex(await type(health), /^the node +SERVING$/m);
  t.regex(await type(doctor), /^ok +public address: The server answers there\.$/m);
  t.regex(await type(list), /^server +Up$/m);
  t.regex(await type(log), /^Scriptorium is running\./m);
  await type(restart);
  t.regex(await type('docker compose exec server scriptorium nodes'), /^server /m);

  await type(backUp);
  t.regex(await type(verify), /^1 account signed in and synced 1 item, the same as in the backup\.$/m);
  await type(copyOut);
  t.regex(await type('ls backups/backups'), /^\d{8}T\d{9}Z-\w{8}$/m);

  await device.save();
  for (const command of [stop, drop, create, putAside]) await type(command);
  const alone = await t.throwsAsync(type('docker compose run --rm server dist/cli/main.js doctor'));
  t.regex(alone?.message ?? '', /Nobody answers at PUBLIC_URL/);
  t.regex(await type(restore), /^The secret key here is that of the backup\.$/m);
  await type(start);
  const pages = await device.syncAll();
  t.is(pages.flatMap(({ retrieved_items }) => retrieved_items).length, 1, 'what was saved later is lost');

  machine.set(`PUBLIC_URL=${machine.url}\nDISABLE_USER_REGISTRATION=true\n`);
  await type('docker compose up --detach');
  await t.throwsAsync(Device.register(machine, { email: 'stranger@example.org' }));
  await type(stop);
});
