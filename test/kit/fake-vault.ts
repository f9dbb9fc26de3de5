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

const FakeVault = contract({
  name: 'fakeVault',
  commands: {
    send: {
      request: z.object({ to: z.string(), name: z.string(), payload: z.unknown() }),
      reply: z.object({}),
    },
  },
});

export const fakeVault = kindOf(FakeVault, {
  uses: [],
  slices: [],
  tables: [],
  timers: {},
  tells: {},
  commands: {
    send: command(FakeVault.commands.send, {
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
  from = 'vault',
): Promise<void> {
  const { ask } = server.host.actors.get(FakeVault, from);
  await server.answered(ask.send({ to, name, payload }));
  await server.advance(1_000);
}
