/** Random sequences of commands. The server must answer and execute each like a model of a few lines. */
import test from 'ava';
import { isRefused } from '../../../actors/reply.ts';
import { Vault } from '../../../actors/vault/contract.ts';
import { SeededRandom } from '../../kit/random.ts';
import { startServer } from '../../kit/server.ts';
import { rowsOf, wrongWith } from '../../kit/vaults.ts';

const permissions = ['read', 'write', 'admin'] as const;
type Permission = (typeof permissions)[number];
const users = [0, 1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const [creator = ''] = users;

/** An invite is identified by its number; uuids are looked up. */
interface Model {
  ended: boolean;
  survivor: string | null;
  readonly members: Map<string, Permission>;
  readonly invites: Map<string, { readonly uuid: string; readonly permission: Permission }>;
}

const isOwner = (model: Model, by: string) => !model.ended && by === creator;

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
  test(`a vault does what its model does (seed ${seed})`, async (t) => {
    const server = await startServer(t);
    const random = new SeededRandom(seed);
    const one = <T>(of: readonly T[]): T => random.pick(of);
    const id = crypto.randomUUID();
    const { ask } = server.host.actors.get(Vault, id);
    await ask.create({ by: creator });
    const model: Model = {
      ended: false,
      survivor: null,
      members: new Map([[creator, 'admin']]),
      invites: new Map(),
    };
    /** Old ones too, which must not count. */
    const uuids: string[] = [crypto.randomUUID()];

    const steps = {
      async invite(by: string) {
        const [recipientUuid, permission] = [one(users), one(permissions)];
        const answer = await ask.invite({ by, recipientUuid, permission, encryptedMessage: 'x' });
        const may = isOwner(model, by) && !model.members.has(recipientUuid);
        if (!isRefused(answer)) {
          const { uuid } = answer.ok.invite;
          uuids.push(uuid);
          model.invites.set(recipientUuid, { uuid, permission });
        }
        return [answer, may] as const;
      },
      async accept(by: string) {
        const inviteUuid = one([model.invites.get(by)?.uuid ?? one(uuids), one(uuids)]);
        const pending = model.invites.get(by);
        const answer = await ask.acceptInvite({ by, inviteUuid });
        const isMember = !model.ended && model.members.has(by);
        const joins = !isMember && pending?.uuid === inviteUuid;
        if (joins && pending !== undefined) {
          model.members.set(by, pending.permission);
          model.invites.delete(by);
        }
        return [answer, isMember || joins] as const;
      },
      async endInvite(by: string) {
        const inviteUuid = one(uuids);
        const [invitee] = [...model.invites].find(([, { uuid }]) => uuid === inviteUuid) ?? [];
        const answer = await ask.endInvite({ by, inviteUuid });
        const may = invitee !== undefined && (invitee === by || isOwner(model, by));
        if (may) model.invites.delete(invitee);
        return [answer, may] as const;
      },
      async remove(by: string) {
        const userUuid = one(users);
        const answer = await ask.removeMember({ by, userUuid });
        const isAllowed = model.members.has(by) && (by === userUuid || isOwner(model, by));
        const may = isAllowed && userUuid !== creator && model.members.has(userUuid);
        if (may) model.members.delete(userUuid);
        if (may && model.survivor === userUuid) model.survivor = null;
        return [answer, may] as const;
      },
      async designate(by: string) {
        const userUuid = one(users);
        const answer = await ask.designateSurvivor({ by, userUuid });
        const isAdmin = model.members.get(by) === 'admin';
        const may = isAdmin && userUuid !== creator && model.members.has(userUuid);
        if (may) model.survivor = userUuid;
        return [answer, may] as const;
      },
      async end(by: string) {
        const answer = await ask.end({ by });
        const may = isOwner(model, by);
        if (may) {
          Object.assign(model, { ended: true, survivor: null });
          model.members.clear();
          model.invites.clear();
        }
        return [answer, may] as const;
      },
    };
    const names = ['invite', 'invite', 'invite', 'accept', 'accept', 'accept', 'designate'] as const;
    const rarely = ['endInvite', 'remove', 'remove'] as const;

    for (let step = 0; step < 150; step += 1) {
      const isLate = step > 140;
      const name = isLate ? one([...names, 'end', 'remove'] as const) : one([...names, ...rarely]);
      const by = one([creator, ...users]);
      const [answer, may] = await steps[name](by);
      t.is(!isRefused(answer), may, `step ${step}: ${name} by ${by}`);
      const rows = await rowsOf(server, id);
      t.is(wrongWith(rows), undefined, `step ${step}: ${name}`);
      const found = new Map(rows.members.map(({ member, permission }) => [member, permission]));
      t.deepEqual([...found].sort(), [...model.members].sort(), `step ${step}: ${name}`);
      t.deepEqual(
        rows.invites.map(({ invitee, uuid }) => [invitee, uuid]).sort(),
        [...model.invites].map(([invitee, { uuid }]) => [invitee, uuid]).sort(),
      );
      t.is(rows.vault?.survivor_uuid ?? null, model.survivor);
    }
  });
}
