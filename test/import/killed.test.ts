/** An import that is killed goes on where it was, at whatever step; nothing comes twice, and nobody sees a part. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Actors } from '../../runtime/handles.ts';
import { runs } from '../kit/built.ts';
import { apiOver } from '../kit/internal-api.ts';
import { encryptionServerKey, someTime } from './installation.ts';
import { firstSync, type Move, passMs, signInWith, startMove } from './moving.ts';

const limitMs = 300_000;

/** One command of each stage, and how often it has been carried out when the import dies. */
const deaths = [
  ['importAccount', 1],
  ['importAccount', 3],
  ['importVault', 1],
  ['importRevisions', 1],
  ['importItems', 1],
  ['importInbox', 2],
  ['importFile', 1],
  ['importOpen', 1],
] as const;

/** Tells of each command that an import has carried out, before it is answered. */
function overheard(actors: Actors, onDone: (command: string) => void): Actors {
  type Command = (request: unknown, options: unknown) => Promise<unknown>;
  const heard = (ask: object) =>
    new Proxy(ask as Record<string, Command>, {
      get: (of, name: string) => async (request: unknown, options: unknown) => {
        const reply = await of[name]?.(request, options);
        onDone(name);
        return reply;
      },
    });
  return { get: (kind, id) => ({ ask: heard(actors.get(kind, id).ask) as never }) };
}

async function fill({ there, folder }: Move) {
  const ada = await there.user('ada@example.org');
  const ben = await there.user('ben@example.org');
  const cyd = await there.user('cyd@example.org');
  const notes: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const owner = [ada, ben, cyd][index % 3] ?? ada;
    const note = await there.item(owner.uuid);
    notes.push(note);
    await there.revision(note, owner.uuid, `2023-11-14 22:13:${10 + index}.000`);
  }
  const vault = await there.vault(ada.uuid);
  await there.member(vault, ben.uuid, 'write');
  await there.item(ben.uuid, {
    shared_vault_uuid: vault,
    key_system_identifier: 'k',
    last_edited_by: ben.uuid,
  });
  await there.insert('messages', {
    uuid: randomUUID(),
    recipient_uuid: cyd.uuid,
    sender_uuid: ada.uuid,
    encrypted_message: 'x',
    created_at_timestamp: someTime,
    updated_at_timestamp: someTime,
  });
  for (const owner of [ada.uuid, vault]) {
    mkdirSync(join(folder, 'uploads', owner), { recursive: true });
    writeFileSync(join(folder, 'uploads', owner, randomUUID()), randomBytes(5_000_000));
  }
  return { ada, ben, cyd, notes, vault };
}

/** Runs a pass as a process of its own, and kills it when this has been done so often. True where it was killed. */
async function passUntil(t: ExecutionContext, move: Move, [command, times]: (typeof deaths)[number]) {
  let child: ChildProcess | undefined;
  let done = 0;
  let isKilled = false;
  const actors = overheard(move.world.server.host.actors, (name) => {
    if (name !== command || child === undefined) return;
    done += 1;
    if (done === times) isKilled = child.kill('SIGKILL');
  });
  const { address } = await apiOver(t, move.world.server, { api: { actors } });
  const args = [
    '--from',
    move.from,
    '--files',
    join(move.folder, 'uploads'),
    '--source-key-file',
    keyOf(move),
  ];
  const report = ['--report', join(move.folder, 'killed.json')];
  await move.whileClosed(async () => {
    const started = spawn(
      process.execPath,
      [...runs('cli/main.ts'), '--address', address, 'import', 'server', ...args, ...report],
      { stdio: 'ignore' },
    );
    child = started;
    const over = new Promise<void>((resolve) => started.once('exit', () => resolve()));
    await move.world.server.answered(over, passMs);
  });
  return isKilled;
}

const keyOf = ({ folder }: Move): string => join(folder, 'key');

test('a pass that is killed at any step leaves nobody a part, and the next one brings the rest', async (t) => {
  t.timeout(limitMs);
  const move = await startMove(t);
  const { ada, notes } = await fill(move);
  const files = ['--files', join(move.folder, 'uploads'), '--source-key-file', keyOf(move)];
  for (const death of deaths) {
    t.true(await passUntil(t, move, death), death.join(' '));
    if (death[0] !== 'importOpen') t.is((await signInWith(move, 'ben@example.org')).status, 401);
  }
  const report = await move.pass(files);
  t.is(report.tables.items.written + report.tables.items.unchanged, 13);
  t.like(report.tables.files, { read: 2, unchanged: 2 });
  t.like(await move.verify(), { same: true, items: 13, revisions: 12 });
  const { first, get } = await firstSync(move, 'ada@example.org');
  t.is(first.retrieved_items.length, 5, 'four of her own, and one of the vault');
  const { revisions } = (await get(`/v2/items/${notes[0]}/revisions`)).body;
  t.is(revisions.length, 1);
  t.is((await get(`/v1/users/${ada.uuid}/settings/FILE_UPLOAD_BYTES_USED`)).body.setting.value, '10000000');
});

test('a pass goes on while the server that it writes to dies and comes back', async (t) => {
  t.timeout(limitMs);
  const move = await startMove(t);
  await fill(move);
  writeFileSync(keyOf(move), encryptionServerKey);
  const files = ['--files', join(move.folder, 'uploads'), '--source-key-file', keyOf(move)];
  const pass = move.pass(files);
  await move.world.server.restart();
  t.like((await pass).tables.items, { read: 13, written: 13 });
  t.like(await move.verify(), { same: true });
});
