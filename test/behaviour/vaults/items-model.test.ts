/**
 * Random saves by members with different rights, into two vaults and their own collection. The server must answer and
 * execute each like a model of the rules (docs/protocol/sync.md, "Items of vaults").
 */
import test from 'ava';
import type { ModernSyncReply } from '../../../actors/collection/sync-contract.ts';
import { accepted, type Device } from '../../kit/device.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import { SeededRandom } from '../../kit/random.ts';
import { startServer } from '../../kit/server.ts';
import { join, makeVault, type Permission } from '../../kit/vaults.ts';

const keyType = 'SN|KeySystemItemsKey';
const insufficient = 'shared_vault_insufficient_permissions_error';
const invalid = 'shared_vault_invalid_state';
const notMember = 'shared_vault_not_member_error';
const tooOld = 'shared_vault_snjs_version_error';
const uuidConflict = 'uuid_conflict';

/** Where it is: null is its owner's own collection. */
interface StoredItem {
  readonly owner: string;
  readonly vault: string | null;
  readonly version: number;
  readonly type: string;
  readonly deleted: boolean;
  readonly content: string | null;
}

interface SentItem {
  readonly by: string;
  readonly vault: string | null;
  readonly type: string;
  readonly deleted: boolean;
  readonly hasKeySystem: boolean;
  readonly isOld: boolean;
}

type Rights = (vault: string, user: string) => Permission | undefined;

/** Whether the saver may see the stored item. */
const isSeen = (stored: StoredItem, by: string, rights: Rights): boolean =>
  stored.vault === null ? stored.owner === by : rights(stored.vault, by) !== undefined;

/** The possible refusals of a save; empty if it is saved. */
function refusals(stored: StoredItem | undefined, sent: SentItem, rights: Rights): readonly string[] {
  const { by, vault: to, type, deleted, hasKeySystem, isOld } = sent;
  if (to !== null && !hasKeySystem) return [invalid];
  const from = stored?.vault ?? null;
  if (to !== null && rights(to, by) === undefined) return isOld ? [notMember, tooOld] : [notMember];
  if (stored !== undefined && !isSeen(stored, by, rights)) {
    if (to === null) return [uuidConflict];
    // The named vault may find another reason to refuse first.
    return to === from ? [notMember] : [uuidConflict, notMember, insufficient, tooOld];
  }
  const places = [from, to].flatMap((each) => (each === null ? [] : [each]));
  const may = (vault: string) => {
    const isKey = type === keyType || stored?.type === keyType;
    const permission = rights(vault, by);
    return permission === 'admin' || (permission === 'write' && !isKey);
  };
  const wrong: string[] = [];
  if (stored !== undefined && from !== to && (deleted || stored.deleted)) wrong.push(invalid);
  const isOwners = stored !== undefined && from !== to && (from === null || to === null);
  if (isOwners && stored.owner !== by) wrong.push(insufficient);
  if (!places.every(may)) wrong.push(insufficient);
  if (places.length > 0 && isOld) wrong.push(tooOld);
  return wrong;
}

const users = ['alice', 'bob', 'carol', 'dave'] as const;

for (const seed of [1, 2, 3, 4]) {
  test(`the rules of vaults hold for any saves by any user (seed ${seed})`, async (t) => {
    const random = new SeededRandom(seed);
    const server = await startServer(t);
    const devices = new Map<string, Device>();
    for (const name of users) devices.set(name, await server.device(`${name}@example.org`));
    const deviceOf = (name: string) => devices.get(name) ?? t.fail();
    const permissions = new Map<string, Permission>();
    const vaults: string[] = [];
    for (const owner of ['alice', 'bob']) {
      const vault = await makeVault(deviceOf(owner));
      vaults.push(vault);
      permissions.set(`${vault} ${owner}`, 'admin');
      for (const name of users) {
        if (name === owner || random.chance(0.2)) continue;
        const permission = random.pick(['read', 'write', 'write', 'admin'] as const);
        await join(deviceOf(owner), vault, deviceOf(name), permission);
        permissions.set(`${vault} ${name}`, permission);
      }
    }
    const rights: Rights = (vault, user) => permissions.get(`${vault} ${user}`);
    const items = new Map<string, StoredItem>();

    for (let step = 0; step < 100; step += 1) {
      const uuid = uuidNumber(1 + random.below(8));
      const stored = items.get(uuid);
      const vault = random.pick([null, ...vaults, stored?.vault ?? null]);
      const sent: SentItem = {
        by: random.pick([...users, stored === undefined ? 'alice' : stored.owner]),
        vault,
        type: random.chance(0.15) ? keyType : 'Note',
        deleted: stored !== undefined && random.chance(0.1),
        hasKeySystem: vault !== null && random.chance(0.95),
        isOld: random.chance(0.2),
      };
      const content = sent.deleted ? null : `${step}`;
      const body = {
        api: '20240226',
        items: [
          note({
            uuid,
            content,
            content_type: sent.type,
            deleted: sent.deleted,
            shared_vault_uuid: vault,
            key_system_identifier: sent.hasKeySystem ? 'system' : null,
            updated_at_timestamp: stored?.version ?? 0,
          }),
        ],
      };
      const headers = { 'x-snjs-version': sent.isOld ? '2.199.9' : '2.204.7' };
      const reply: ModernSyncReply = accepted(
        await deviceOf(sent.by).call('POST', '/v1/items', { body, headers }),
      );
      const what = `step ${step}: ${JSON.stringify({ stored, sent })}`;
      const allowed = refusals(stored, sent, rights);
      const outcomes = [...reply.saved_items.map(() => 'saved'), ...reply.conflicts.map(({ type }) => type)];
      t.is(outcomes.length, 1, what);
      t.true((allowed.length === 0 ? ['saved'] : allowed).includes(outcomes[0] ?? ''), `${outcomes} ${what}`);
      const serverItem = reply.conflicts[0]?.server_item;
      if (stored !== undefined && !isSeen(stored, sent.by, rights)) t.is(serverItem, undefined, what);
      const [saved] = reply.saved_items;
      if (saved === undefined) continue;
      const owner = stored?.owner ?? sent.by;
      t.is(saved.user_uuid, deviceOf(owner).account.userUuid, what);
      const { updated_at_timestamp: version } = saved;
      items.set(uuid, { owner, vault, version, type: sent.type, deleted: sent.deleted, content });
    }

    for (const name of users) {
      const { retrieved_items: received } = await deviceOf(name).sync({ sync_token: null });
      const visible = [...items].filter(([, each]) => !each.deleted && isSeen(each, name, rights));
      t.deepEqual(
        received
          .map(({ uuid, updated_at_timestamp, content }) => [uuid, updated_at_timestamp, content])
          .sort(),
        visible.map(([uuid, { version, content }]) => [uuid, version, content]).sort(),
        name,
      );
    }
  });
}
