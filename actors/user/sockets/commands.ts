/** The part of the `user` kind that knows of sockets. The sockets themselves are the gateways'. */
import { z } from 'zod';
import { command } from '../../../runtime/command.ts';
import { profileSlice } from '../profile.ts';
import { sessionMap } from '../sessions/session.ts';

export const socketCommands = {
  /**
   * For gateways alone: which of these sessions, for which one has or is about to open sockets, are still alive. If
   * any is, the gateway follows this user from then on. No access token is asked for: a socket outlives its own.
   */
  openSocket: command({
    request: z.object({ gateway: z.string(), sessions: z.array(z.string()).readonly() }),
    reply: z.object({
      living: z.array(z.string()).readonly(),
      /** The incarnation of the host that events will come from; undefined where none will. */
      host: z.string().optional(),
    }),
    turn: (turn, { gateway, sessions }) => {
      const isActive = turn.get(profileSlice).state === 'active';
      const isKept = (uuid: string) => turn.nowMs < (turn.entry(sessionMap, uuid)?.keptUntilMs ?? 0);
      const living = isActive ? sessions.filter(isKept) : [];
      return living.length === 0 ? { living } : { living, host: turn.follow(gateway) };
    },
  }),
};
