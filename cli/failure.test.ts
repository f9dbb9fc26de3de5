import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import test from 'ava';
import { commandFailureOf } from './failure.ts';

function failing(code: status, details: string) {
  const error: ServiceError = Object.assign(new Error(details), { code, details, metadata: new Metadata() });
  return commandFailureOf(error, 'node:9091', 500);
}

for (const [code, exitCode] of [
  [status.INVALID_ARGUMENT, 64],
  [status.NOT_FOUND, 1],
  [status.FAILED_PRECONDITION, 1],
  [status.PERMISSION_DENIED, 1],
  [status.UNAVAILABLE, 69],
  [status.RESOURCE_EXHAUSTED, 69],
  [status.UNKNOWN, 69],
  [status.INTERNAL, 69],
] as const) {
  test(`${status[code]} is exit code ${exitCode}, in the words of the node`, (t) => {
    const { exitCode: ended, message } = failing(code, 'The database cannot answer at the moment.');
    t.is(ended, exitCode);
    t.is(message, 'The database cannot answer at the moment.');
  });
}

test('an older node that lacks a command is named as the reason', (t) => {
  const { exitCode, message } = failing(status.UNIMPLEMENTED, 'The server does not implement the method x');
  t.is(exitCode, 69);
  t.is(message, 'node:9091 does not know this command: it may run another version.');
});

for (const [details, reason] of [
  ['No connection established. Last error: connect ECONNREFUSED 10.0.0.1:9091', 'connect ECONNREFUSED'],
  [
    'No connection established. Last error: Error: self-signed certificate. Resolution note: ',
    'self-signed certificate',
  ],
  [
    'No connection established. Last error: 80CC:error:0A00:SSL routines:x:tlsv13 alert certificate required:../deps',
    'alert certificate required',
  ],
  ['Name resolution failed for target dns:node:9091', undefined],
  ['Connection dropped', undefined],
] as const) {
  test(`"${details.slice(0, 50)}" is told with what to look at`, (t) => {
    const { exitCode, message } = failing(status.UNAVAILABLE, details);
    t.is(exitCode, 69);
    t.true(
      message.startsWith(`No connection to node:9091${reason === undefined ? '.' : ` (${reason})`}`),
      message,
    );
    t.true(message.includes('--address'));
  });
}
