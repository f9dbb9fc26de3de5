import type { Mutant } from '../mutant.ts';

const queue = ['actors/mailer/mailer.test.ts'];
const smtp = ['actors/mailer/smtp.test.ts'];
const address = ['actors/mailer/address.test.ts'];
const administration = ['test/behaviour/mail/administration.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-relay-named-like-a-member',
    harm: 'A relay that an administrator calls constructor is waited for without end, and no mail leaves.',
    file: 'actors/mailer/relay-use.ts',
    find: '(Object.hasOwn(uses, id) ? uses[id] : undefined)',
    replace: 'uses[id]',
    tests: ['test/attacks/relays.test.ts'],
  },
  {
    name: 'a-line-break-in-an-address',
    harm: 'An address carries commands to the relay, or names somebody else than it shows.',
    file: 'actors/mailer/address.ts',
    find: 'if (!anyDomain.test(named) || numericEnd.test(named)) return undefined;',
    replace: '',
    tests: address,
  },
  {
    name: 'a-message-that-leaves-before-its-commit',
    harm: 'After a crash a code or an invite that arrived is sent again.',
    file: 'actors/mailer/smtp.ts',
    find: 'await handOver();',
    replace: 'void handOver();',
    tests: smtp,
  },
  {
    name: 'a-certificate-taken-on-trust',
    harm: 'Whoever can redirect a connection reads the password of the relay and all mail.',
    file: 'actors/mailer/smtp.ts',
    find: 'rejectUnauthorized: !isHere',
    replace: 'rejectUnauthorized: false',
    tests: smtp,
  },
  {
    name: 'tls-where-it-is-offered',
    harm: 'Whoever strips STARTTLS from a connection reads all mail.',
    file: 'actors/mailer/smtp.ts',
    find: "requireTLS: security === 'starttls' || !isHere",
    replace: 'requireTLS: false',
    tests: smtp,
  },
  {
    name: 'a-doubtful-mail-repeated-whatever-it-is',
    harm: 'An invite or a code arrives twice after a crash.',
    file: 'actors/mailer/attempt.ts',
    find: "else if (rulesOf(mail.source).repeatsUncertain) again(turn, mail, counted(mail), { failure: 'timeout' });",
    replace: "else if (mail.handed_over) again(turn, mail, counted(mail), { failure: 'timeout' });",
    tests: queue,
  },
  {
    name: 'a-recall-that-comes-first-is-forgotten',
    harm: 'A mail is sent that its owner has called back.',
    file: 'actors/mailer/queue.ts',
    find: "writeMail(turn, undefined, { ...newRow(turn, nothing), place: 'recalled' });",
    replace: '',
    tests: queue,
  },
  {
    name: 'mail-to-anybody-without-limit',
    harm: 'Whoever registers has this server write to anyone, as often as they like.',
    file: 'actors/mailer/daily-limit.ts',
    find: 'if (othersPerDay > 0 && mails >= othersPerDay)',
    replace: 'if (othersPerDay < 0)',
    tests: queue,
  },
  {
    name: 'a-late-code-is-sent',
    harm: 'A code that signs in arrives when nobody waits for it any more.',
    file: 'actors/mailer/attempt.ts',
    find: 'expires_at !== null && nowMs >= expires_at',
    replace: 'expires_at !== null && nowMs < 0',
    tests: queue,
  },
  {
    name: 'a-kept-password-for-another-host',
    harm: 'An administrator who may not see the password has it sent to a host of theirs.',
    file: 'actors/mailer/admin/relay-list.ts',
    find: 'return [id, kind, relay.host, relay.port, relay.security, relay.username]',
    replace: 'return [id, kind, relay.port, relay.security, relay.username]',
    tests: administration,
  },
  {
    name: 'mail-administered-by-anybody',
    harm: 'Any user replaces the relays and has all codes sent through their own.',
    file: 'actors/user/email-delivery/commands.ts',
    find: '(isAdministrator(turn) ? {} : adminRequired)',
    replace: '(isAdministrator(turn) || adminRequired ? {} : {})',
    tests: administration,
  },
];
