import test from 'ava';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { family } from './endpoint.ts';

const name = 'GET /v1/greeting';
const summary = 'A greeting.';
const { endpoint } = family({ tag: 'Users' });
const { listSessions } = Sessions.commands;

test('an endpoint whose command is not there is named by the error that ends the start', (t) => {
  t.throws(() => endpoint(name, { summary, command: undefined as unknown as typeof listSessions }), {
    message: /^GET \/v1\/greeting is declared wrongly: /,
  });
});

test('an endpoint that adds what is no field of its command is named as well', (t) => {
  const declaration = { summary, command: listSessions, adds: { greeting: () => '' } };
  t.throws(() => endpoint(name, declaration as never), {
    message: /^GET \/v1\/greeting is declared wrongly: /,
  });
});
