/** Which of a gateway's users hear what the vault publishes. */
import { command, keys } from '../../runtime/command.ts';
import { Vault } from './contract.ts';
import { memberKey } from './member-list.ts';
import { memberTable } from './tables.ts';

/** For none of its members a gateway is subscribed to nothing. */
export const subscribe = command({
  ...Vault.commands.subscribe,
  reads: (view, { users }) => ({
    members: keys(
      memberTable,
      users.map((each) => memberKey(view, each)),
    ),
  }),
  turn: (turn, { gateway, users }, { members }) => {
    const admitted = users.flatMap((each) => {
      const row = members.get(memberKey(turn, each));
      return row === undefined ? [] : [[each, row.membership] as const];
    });
    const memberships = Object.fromEntries(admitted);
    return admitted.length === 0 ? { memberships } : { memberships, host: turn.subscribe(gateway) };
  },
});
