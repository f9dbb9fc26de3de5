import { command } from '../../../runtime/command.ts';
import { isActive } from '../profile.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { Sessions } from './contract.ts';
import { sessionMap } from './session.ts';

export const openSocket = command({
  ...Sessions.commands.openSocket,
  turn: (turn, { gateway, sessions }) => {
    const leftMs = (uuid: string) => (turn.entry(sessionMap, uuid)?.keptUntilMs ?? 0) - turn.nowMs;
    const living = isActive(turn) ? sessions.filter((uuid) => leftMs(uuid) > 0) : [];
    if (living.length === 0) return { living };
    return {
      living,
      host: turn.subscribe(gateway),
      vaults: Object.fromEntries(membershipsOf(turn)),
      endsInMs: Math.min(...living.map(leftMs)),
    };
  },
});
