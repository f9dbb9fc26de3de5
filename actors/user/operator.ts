/**
 * What operators ask of a user: to be shown the account, and to end its sessions. Nobody's session is checked here,
 * so no client may ever get to these commands. They stand apart from `UserCommands`: a handle on `User`, which is all
 * the gateway has, knows nothing of them, and `actors/operator.ts`, which exports the handle that does, is closed to
 * the gateway by a lint rule. The transport is not a way in either: whoever reaches it is a process of the cluster.
 */
import { z } from 'zod';
import { command, sharedRead } from '../../runtime/command.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import type { KindRef } from '../../runtime/kind.ts';
import type { State } from '../../runtime/slice.ts';
import type { Store } from '../../runtime/store/store.ts';
import { head } from '../collection/head.ts';
import type { UserServices } from '../services.ts';
import type { SignInAddress } from '../signin/signin-keys.ts';
import { accountTable, addressKey } from './account/account-table.ts';
import { endAllSessions } from './account/change-credentials.ts';
import { callerOf, type Profile, profileSlice } from './profile.ts';
import { type Session, sessionMap } from './sessions/session.ts';

const nothing = z.object({});

const accountSchema = z.object({
  /** `deleted`: by its owner; what it left is being removed, and its address is no more. */
  state: z.enum(['active', 'deleted']),
  email: z.string(),
  workspace: z.string(),
  protocolVersion: z.string(),
  createdAtMs: z.number(),
  /** Those that can still be used or refreshed. */
  sessions: z.number(),
  /** Rows of the user's own collection, tombstones included, and their size. */
  items: z.number(),
  itemBytes: z.number(),
  roles: z.array(z.string()),
  readonly: z.boolean(),
});

export function operatorCommands({ settings }: UserServices) {
  return {
    operatorShow: sharedRead({
      request: nothing,
      reply: accountSchema,
      answer: (view) => {
        const profile = existing(view);
        const { state, email, workspace, protocolVersion, createdAtMs } = profile;
        const { items, sizeBytes } = view.get(head);
        return {
          ...{ state, email, workspace, protocolVersion, createdAtMs, items },
          itemBytes: sizeBytes,
          sessions: [...view.entries(sessionMap).values()].filter(isKept(view.nowMs)).length,
          roles: callerOf(view.self.id, profile, settings).roles.map(({ name }) => name),
          readonly: settings.readonlyUsers.has(email),
        };
      },
    }),

    /** They are not remembered as revoked: clients of a revoked session wipe their data, these shall sign in again. */
    operatorEndSessions: command({
      request: nothing,
      reply: z.object({ ended: z.number() }),
      repeat: 'recorded',
      turn: (turn) => {
        existing(turn);
        const ended = [...turn.entries(sessionMap).values()].filter(isKept(turn.nowMs)).length;
        endAllSessions(turn);
        return { ended };
      },
    }),
  };
}

const isKept =
  (nowMs: number) =>
  ({ keptUntilMs }: Session): boolean =>
    nowMs < keptUntilMs;

/** @throws NotFoundError */
function existing(state: State): Profile & { readonly state: 'active' | 'deleted' } {
  const profile = state.get(profileSlice);
  if (profile.state === 'none') throw new NotFoundError('there is no account here');
  return { ...profile, state: profile.state };
}

/** The `user` kind as operators know it. */
export const OperatedUser: KindRef<ReturnType<typeof operatorCommands>> = { name: 'user' };

/** The uuid of the user of an address, as committed. @throws StoreError */
export async function findUser(
  store: Pick<Store, 'read'>,
  address: SignInAddress,
): Promise<string | undefined> {
  const [unique = []] = accountTable.unique;
  const [found] = await store.read([
    { read: 'lookup', table: accountTable, unique, values: [addressKey(address)] },
  ]);
  const row = found?.rows[0];
  return row === undefined ? undefined : String(row['user_uuid']);
}
