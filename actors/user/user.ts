/** The `user` kind: one actor per account, a folder of small parts that share its mailbox (design section 6). */
import { type KindRef, kind } from '../../runtime/kind.ts';
import type { UserServices } from '../services.ts';
import { profileSlice } from './profile.ts';
import { revokedSessionMap, sessionMap } from './sessions/session.ts';

export function createUserKind(_services: UserServices) {
  return kind({
    name: 'user',
    slices: [profileSlice, sessionMap, revokedSessionMap],
    commands: {},
  });
}

export type UserCommands = ReturnType<typeof createUserKind>['commands'];
export const User: KindRef<UserCommands> = { name: 'user' };
