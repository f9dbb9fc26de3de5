/** An actor that sends users the tells of their vaults, for tests of how users handle them. */
import { z } from 'zod';
import { User } from '../../actors/user/contract.ts';
import { Inbox } from '../../actors/user/inbox/contract.ts';
import { Revisions } from '../../actors/user/revisions/contract.ts';
import { Vaults } from '../../actors/user/vaults/contract.ts';
import { command } from '../../runtime/command.ts';
import { contract, type Tells } from '../../runtime/contract.ts';
import { kindOf } from '../../runtime/kind.ts';
import type { TestServer } from './server.ts';

const tells = { ...Inbox.tells, ...Revisions.tells, ...Vaults.tells };
type UserTells = Tells<typeof tells>;

const Teller = contract({
  name: 'teller',
  commands: {
    say: {
      request: z.object({ to: z.string(), name: z.string(), payload: z.unknown() }),
      reply: z.object({}),
    },
  },
});

export const teller = kindOf(Teller, {
  uses: [],
  slices: [],
  tables: [],
  timers: {},
  tells: {},
  commands: {
    say: command({
      ...Teller.commands.say,
      creates: true,
      repeat: 'recorded',
      turn: (turn, { to, name, payload }) => {
        const senders = turn.tell({ name: User.name, tells }, to) as unknown as Record<
          string,
          (payload: unknown) => void
        >;
        senders[name]?.(payload);
        return {};
      },
    }),
  },
});

/** Resolves once the user has received the tell and handled it. */
export async function tellUser<Name extends keyof UserTells>(
  server: TestServer,
  to: string,
  name: Name,
  payload: Parameters<UserTells[Name]>[0],
): Promise<void> {
  const { ask } = server.host.actors.get(Teller, 'vault');
  await server.answered(ask.say({ to, name, payload }));
  await server.advance(1_000);
}
