import test from 'ava';
import type { Turn } from '../../runtime/command.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { sealedMail } from '../../test/kit/mail.ts';
import { createSigninKeys, SigninKeys } from '../identity/signin-keys.ts';
import { createUserSecrets, UserSecrets } from '../identity/user-secrets.ts';
import { countMail } from './daily-limit.ts';
import { defaultMailSettings, MailSettings } from './settings.ts';

const nowMs = 100 * 86_400_000;
const keyring = createKeyring(Buffer.alloc(32, 7));

/** Counts for a mailer of its own. Nobody has sent anything before. */
function counter() {
  const counts = new Map<string, unknown>();
  const provided = new Map<unknown, unknown>([
    [UserSecrets, createUserSecrets(keyring)],
    [SigninKeys, createSigninKeys(keyring)],
    [MailSettings, { ...defaultMailSettings, mailboxPerDay: 20 }],
  ]);
  const turn = {
    self: { kind: 'mailer', id: 'mailer' },
    nowMs,
    use: (dependency: unknown) => provided.get(dependency),
    entries: () => counts,
    entry: (_map: unknown, name: string) => counts.get(name),
    setEntry: (_map: unknown, name: string, count: unknown) => counts.set(name, count),
    removeEntry: (_map: unknown, name: string) => counts.delete(name),
    put: () => {},
  } as unknown as Turn;
  const nothing = { sender: new Map() } as unknown as Parameters<typeof countMail>[2];
  return (recipient: string, accountSinceMs: number): boolean =>
    countMail(turn, { ...sealedMail('one', 'invite', { recipient }), accountSinceMs }, nothing) === undefined;
}

test('new accounts that write to thousands of mailboxes keep no older account from writing to others', (t) => {
  const isCounted = counter();
  let sent = 0;
  for (let each = 0; each < 11_000; each += 1)
    if (isCounted(`stranger-${each}@example.net`, nowMs)) sent += 1;
  t.is(sent, 10_000);
  t.true(isCounted('stranger-1@example.net', nowMs), 'a mailbox that is counted already');
  t.false(isCounted('friend@example.net', nowMs));
  t.true(isCounted('friend@example.net', nowMs - 2 * 86_400_000));
});
