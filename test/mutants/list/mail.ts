import type { Mutant } from '../mutant.ts';

const smtp = ['actors/mailer/smtp.test.ts'];
const address = ['actors/mailer/address.test.ts'];
const administration = ['test/behaviour/mail/administration.test.ts'];

export const mutants: readonly Mutant[] = [
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
    find: 'await this.#delivery.handOver();',
    replace: 'void this.#delivery.handOver();',
    tests: smtp,
  },
  {
    name: 'a-certificate-taken-on-trust',
    harm: 'Anyone who can redirect a connection reads the password of the relay and all mail.',
    file: 'actors/mailer/smtp-session.ts',
    find: 'rejectUnauthorized: !isHere',
    replace: 'rejectUnauthorized: false',
    tests: smtp,
  },
  {
    name: 'tls-where-it-is-offered',
    harm: 'Anyone who strips STARTTLS from a connection reads all mail.',
    file: 'actors/mailer/smtp-session.ts',
    find: "requireTLS: security !== 'none'",
    replace: 'requireTLS: false',
    tests: smtp,
  },
  {
    name: 'a-password-in-plain-text',
    harm: 'Everybody on the way to the relay reads the password, though the list allowed plain text for mail alone.',
    file: 'actors/mailer/relays.ts',
    find: 'username !== null && !plaintextCredentials',
    replace: 'username === null && !plaintextCredentials',
    tests: smtp,
    match: 'a password goes*',
  },
  {
    name: 'a-session-for-whoever-asks',
    harm: 'Anyone who changes the password of a relay to a wrong one is told that it works, and mail goes out in the name of another.',
    file: 'actors/mailer/smtp-session.ts',
    find: 'if (session.name !== name) continue;',
    replace: '',
    tests: smtp,
  },
  {
    name: 'mail-administered-by-anybody',
    harm: 'Any user replaces the relays and has all codes sent through their own.',
    file: 'actors/user/administered.ts',
    find: '(mayAdminister(turn, by) ? {} : adminRequired)',
    replace: '(mayAdminister(turn, by) || adminRequired ? {} : {})',
    tests: administration,
  },
  {
    name: 'a-full-queue-that-knows-addresses',
    harm: 'While the queue is full anybody can ask which addresses have an account.',
    file: 'actors/signin/requested-mails.ts',
    find: "(workflow.actors, 'other');\n    if (noMail !== undefined) return noMail;",
    replace:
      "(workflow.actors, 'other');\n    if (noMail !== undefined && address.email !== 'nobody@example.org') return noMail;",
    tests: ['test/behaviour/accounts/subscription-tokens.test.ts'],
    match: 'while the queue is full*',
  },
];
