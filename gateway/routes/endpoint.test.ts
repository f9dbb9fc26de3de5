import test from 'ava';
import { User } from '../../actors/user/contract.ts';
import { endpoint } from './endpoint.ts';

const greeting = { method: 'GET', path: '/v1/greeting', summary: 'A greeting.', tag: 'Users' } as const;

test('an endpoint whose command is of no user, or not there, is named by the error that ends the start', (t) => {
  const foreign = { ...User.commands.listSessions };
  for (const command of [foreign, undefined as unknown as typeof foreign])
    t.throws(() => endpoint({ ...greeting, command }), {
      message: /^GET \/v1\/greeting is declared wrongly: /,
    });
});

test('an endpoint that adds what is no field of its command is named as well', (t) => {
  const declaration = { ...greeting, command: User.commands.listSessions, adds: { greeting: () => '' } };
  t.throws(() => endpoint(declaration as never), { message: /^GET \/v1\/greeting is declared wrongly: / });
});
