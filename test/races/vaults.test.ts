/**
 * Three accounts and a vault: whatever happens at the same moment, and whenever the host dies, all views agree in the
 * end.
 */
import test, { type ExecutionContext } from 'ava';
import { Death } from '../kit/death.ts';
import { type Device, deleteAccount } from '../kit/device.ts';
import type { Answer } from '../kit/http.ts';
import { startServer, type TestServer } from '../kit/server.ts';
import { accept, invite, join, makeVault, rowsOf, type VaultRows, vaults, wrongWith } from '../kit/vaults.ts';

interface Scene {
  readonly server: TestServer;
  readonly owner: Device;
  readonly member: Device;
  readonly guest: Device;
  readonly vault: string;
  readonly inviteUuid: string;
}

const uuidOf = ({ account }: Device) => account.userUuid;

async function startScene(t: ExecutionContext, death = new Death()): Promise<Scene> {
  const server = await startServer(t, { host: { schedule: death.schedule } });
  const owner = await server.device();
  const member = await server.device('bob@example.org');
  const guest = await server.device('carol@example.org');
  const vault = await makeVault(owner);
  await join(owner, vault, member, 'admin');
  const inviteUuid = await invite(owner, vault, uuidOf(guest));
  await server.advance(10_000);
  return { server, owner, member, guest, vault, inviteUuid };
}

const accepts = ({ guest, vault, inviteUuid }: Scene) => accept(guest, vault, inviteUuid);
const declines = ({ guest, vault, inviteUuid }: Scene) =>
  guest.call('DELETE', `${vaults}/${vault}/invites/${inviteUuid}`);
const removes = (by: Device, { vault }: Scene, whom: Device) =>
  by.call('DELETE', `${vaults}/${vault}/users/${uuidOf(whom)}`);
const ends = ({ owner, vault }: Scene) => owner.call('DELETE', `${vaults}/${vault}`);
const designates = ({ owner, member, vault }: Scene) =>
  owner.call('POST', `${vaults}/${vault}/users/${uuidOf(member)}/designate-survivor`);

interface Scenario {
  /** In the order of the calls if one follows the other. All succeed then. */
  readonly calls: (scene: Scene) => readonly (() => Promise<Answer>)[];
  /** The state once they have all been made in this order. */
  readonly leadsTo: (scene: Scene, rows: VaultRows) => boolean;
}

const names = ({ members }: VaultRows) => members.map(({ member }) => member).sort();
const are = (rows: VaultRows, ...devices: readonly Device[]) =>
  names(rows).join() === devices.map(uuidOf).sort().join();

const scenarios: Readonly<Record<string, Scenario>> = {
  'an invite is accepted': {
    calls: (scene) => [() => accepts(scene)],
    leadsTo: ({ owner, member, guest }, rows) => are(rows, owner, member, guest),
  },
  'an invite is declined': {
    calls: (scene) => [() => declines(scene)],
    leadsTo: ({ owner, member }, rows) => are(rows, owner, member) && rows.invites.length === 0,
  },
  'a member is removed': {
    calls: (scene) => [() => removes(scene.owner, scene, scene.member)],
    leadsTo: ({ owner }, rows) => are(rows, owner),
  },
  'a member joins and leaves': {
    calls: (scene) => [() => accepts(scene), () => removes(scene.guest, scene, scene.guest)],
    leadsTo: ({ owner, member }, rows) => are(rows, owner, member),
  },
  'a member joins and the vault is deleted': {
    calls: (scene) => [() => accepts(scene), () => ends(scene)],
    leadsTo: (_scene, { vault }) => vault === undefined,
  },
  'a member joins and is deleted': {
    calls: (scene) => [() => accepts(scene), () => deleteAccount(scene.guest)],
    leadsTo: ({ owner, member }, rows) => are(rows, owner, member) && rows.invites.length === 0,
  },
  'a survivor takes over': {
    calls: (scene) => [() => designates(scene), () => deleteAccount(scene.owner)],
    leadsTo: ({ member }, rows) => are(rows, member) && rows.vault?.owner_uuid === uuidOf(member),
  },
  'the owner is deleted without a survivor': {
    calls: (scene) => [() => accepts(scene), () => deleteAccount(scene.owner)],
    leadsTo: (_scene, { vault }) => vault === undefined,
  },
  'owner and survivor are deleted': {
    calls: (scene) => [
      () => designates(scene),
      () => deleteAccount(scene.member),
      () => deleteAccount(scene.owner),
    ],
    leadsTo: (_scene, { vault }) => vault === undefined,
  },
};

/** The problem after everything has come to rest; undefined if there is none. */
async function wrongIn({ server, owner, member, guest, vault }: Scene): Promise<string | undefined> {
  const rows = await rowsOf(server, vault);
  for (const device of [owner, member, guest]) {
    const listed = await device.call('GET', vaults);
    const isMember = rows.members.some((row) => row.member === uuidOf(device));
    if (listed.status === 401 && isMember) return 'a member without an account';
    if (listed.status === 401) continue;
    if ((listed.body.sharedVaults.length === 1) !== isMember) return 'a member who does not know it';
    const inbound = (await device.call('GET', `${vaults}/invites`)).body.invites.length === 1;
    const isInvited = rows.invites.some(({ invitee }) => invitee === uuidOf(device));
    if (inbound !== isInvited) return 'an invite that only one of both knows';
  }
  return wrongWith(rows);
}

for (const [what, { calls: callsOf, leadsTo }] of Object.entries(scenarios)) {
  test(`${what}, at the same moment: all come to say the same`, async (t) => {
    const scene = await startScene(t);
    const answers = await scene.server.answered(Promise.all(callsOf(scene).map((call) => call())));
    await scene.server.advance(20_000);
    t.is(await wrongIn(scene), undefined);
    for (const { status } of answers) t.true(status === 200 || status === 400, String(status));
  });

  test(`${what}, one after the other, and the host dies around any commit: all come to say the same`, async (t) => {
    let deaths = 0;
    for (let commit = 1; ; commit += 1) {
      const died = [await dies(commit, false), await dies(commit, true)];
      deaths += died.filter(Boolean).length;
      if (!died.includes(true)) break;
    }
    t.true(deaths >= 4);

    async function dies(commit: number, isApplied: boolean): Promise<boolean> {
      const death = new Death();
      const scene = await startScene(t, death);
      const { server } = scene;
      death.plan(commit, isApplied);
      const statuses: number[] = [];
      let isOver = false;
      const calls = (async () => {
        for (const call of callsOf(scene)) statuses.push((await call()).status);
        isOver = true;
      })();
      await server.until(() => isOver || death.isDead, 5_000);
      // The consequences of the last answer come in separate commits.
      for (let tick = 0; tick < 30 && !death.isDead; tick += 1) await server.advance(500);
      const { isDead } = death;
      death.over();
      if (isDead) await server.restart();
      await server.answered(calls, 60_000);
      await server.advance(20_000);
      const when = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
      t.deepEqual([...new Set(statuses)], [200], when);
      t.is(await wrongIn(scene), undefined, when);
      t.true(leadsTo(scene, await rowsOf(server, scene.vault)), when);
      return isDead;
    }
  });
}

test('a host dies around any commit of making a vault: the user who got the answer has it in the list', async (t) => {
  let deaths = 0;
  for (const isApplied of [false, true]) {
    for (let commit = 1; ; commit += 1) {
      const death = new Death();
      const server = await startServer(t, { host: { schedule: death.schedule } });
      const owner = await server.device();
      death.plan(commit, isApplied);
      let vault: string | undefined;
      const made = makeVault(owner).then((uuid) => {
        vault = uuid;
      });
      await server.until(() => vault !== undefined || death.isDead, 5_000);
      const { isDead } = death;
      death.over();
      if (isDead) await server.restart();
      await server.answered(made, 60_000);
      const listed = (await owner.call('GET', vaults)).body.sharedVaults;
      t.deepEqual(
        listed.map(({ uuid }: { uuid: string }) => uuid),
        [vault],
      );
      if (!isDead) break;
      deaths += 1;
    }
  }
  t.true(deaths >= 4);
});
