import test from 'ava';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { family } from './endpoint.ts';

const greeting = { method: 'GET', path: '/v1/greeting', summary: 'A greeting.' } as const;
const { endpoint } = family({ tag: 'Users' });
const { listSessions } = Sessions.commands;

test('an endpoint whose command is not there is named by the error that ends the start', (t) => {
  t.throws(() => endpoint({ ...greeting, command: undefined as unknown as typeof listSessions }), {
    message: /^GET \/v1\/greeting is declared wrongly: /,
  });
});

test('an endpoint that adds what is no field of its command is named as well', (t) => {
  const declaration = { ...greeting, command: listSessions, adds: { greeting: () => '' } };
  t.throws(() => endpoint(declaration as never), { message: /^GET \/v1\/greeting is declared wrongly: / });
});
