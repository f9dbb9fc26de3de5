import test from 'ava';
import type { Lookups } from '../runtime/command.ts';
import { warnOfUnclaimedAdmins } from './unclaimed-admins.ts';

async function linesOf(registered: readonly string[], registrationDisabled = false) {
  const lines: object[] = [];
  const logger = { info() {}, error() {}, warn: (fields: object) => void lines.push(fields) };
  const lookups = {
    find: async ({ values: [value] }: { values: readonly { identifier: string; workspace: string }[] }) => ({
      rows:
        value?.workspace === 'default' && registered.includes(value.identifier) ? [{ user_uuid: 'x' }] : [],
    }),
  } as unknown as Lookups;
  const adminEmails = new Set(['a@example.org', 'b@example.org']);
  await warnOfUnclaimedAdmins({ adminEmails, registrationDisabled }, lookups, logger);
  return lines;
}

test('listed addresses that anyone can still register are counted, and not named', async (t) => {
  t.deepEqual(await linesOf([]), [{ addresses: 2 }]);
  t.deepEqual(await linesOf(['a@example.org']), [{ addresses: 1 }]);
});

test('nothing is said if all are taken, or registration is closed', async (t) => {
  t.deepEqual(await linesOf(['a@example.org', 'b@example.org']), []);
  t.deepEqual(await linesOf([], true), []);
});
