/** Settings of mail. */
import { dependency } from '../../runtime/dependency.ts';
import {
  choice,
  defaultsOf,
  fixed,
  flag,
  integer,
  mebibytes,
  port,
  type SettingsOf,
  sameOnAllNodes,
  secret,
  section,
  setting,
  text,
  WrongValue,
} from '../../runtime/setting.ts';
import { type NamedAddress, namedAddress } from './address.ts';

export const mailsMax = 50_000;
/** The size of one mail: what servers may tell each other, with room to spare. */
export const mailBytesMax = 25 * 1_048_576;
/** Where a connection begins with TLS unless something else is said. */
export const implicitTlsPort = 465;

function sender(text: string): NamedAddress {
  const found = namedAddress(text);
  if (found === undefined) throw new WrongValue('is not one address, alone or as `Name <address>`');
  return found;
}

export const mailSettings = sameOnAllNodes(
  section('Mail', {
    host: text({
      name: 'SMTP_HOST',
      description:
        'The server that takes mail for delivery, until an administrator lists relays. Without it and `SMTP_FROM`, and without such a list, the server sends no mail.',
      pattern: /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$|^[0-9a-f:]{2,45}$/i,
      form: 'a name or an IP address',
    }),
    port: port({
      name: 'SMTP_PORT',
      default: 587,
      description: 'Its port.',
    }),
    isImplicitTls: flag({
      name: 'SMTP_SECURE',
      defaultText: '`true` for port 465',
      description:
        'Whether the connection begins with TLS. Otherwise STARTTLS turns it on, which the server has to offer unless it is on a loopback address or `SMTP_ALLOW_INSECURE` is set. Certificates are verified.',
    }),
    isInsecureAllowed: flag({
      name: 'SMTP_ALLOW_INSECURE',
      default: false,
      description:
        'Speaks to `SMTP_HOST` without TLS. Only for a server that nobody else can listen to, such as a container beside this one.',
    }),
    isInsecurePasswordAllowed: flag({
      name: 'SMTP_ALLOW_INSECURE_PASSWORD',
      default: false,
      description: 'Also sends the password of `SMTP_USER` without TLS.',
    }),
    user: text({
      name: 'SMTP_USER',
      description: 'The user to sign in as there. Without it nobody signs in.',
    }),
    from: setting(sender, {
      name: 'SMTP_FROM',
      bounds: 'an address, alone or as `Name <address>`',
      description: 'Whom mail of this server is from.',
    }),
    reminderFrom: setting(sender, {
      name: 'EMAIL_REMINDER_FROM',
      bounds: 'an address, alone or as `Name <address>`',
      defaultText: 'whom other mail is from',
      description: 'Whom reminders by e-mail are from. Every relay has to let it pass.',
    }),
    /** A home server with a few dozen people sends none to others; this is what each of many strangers may. */
    othersPerDay: integer({
      name: 'MAILS_TO_OTHERS_PER_DAY',
      unit: 'mails',
      min: 0,
      max: 100_000,
      default: 50,
      description:
        'The most mails that one account may have sent in a day to addresses other than its own. 0 is no limit.',
    }),
    accountPerDay: integer({
      name: 'MAILS_TO_ACCOUNT_PER_DAY',
      unit: 'mails',
      min: 0,
      max: 100_000,
      default: 200,
      description:
        "The most reminders and notices of dead man's switches that one account may have sent in a day to its own address. Nobody has checked that the address is the owner's. 0 is no limit.",
    }),
    mailboxPerDay: integer({
      name: 'MAILS_TO_MAILBOX_PER_DAY',
      unit: 'mails',
      min: 0,
      max: 100_000,
      default: 20,
      description:
        'The most mails that all accounts together may have sent in a day to one address that is not their own. Accounts on their first day have a quarter of that besides. 0 is no limit.',
    }),
    mode: choice(['queue', 'direct'], {
      name: 'EMAIL_DELIVERY_MODE',
      default: 'queue',
      description:
        'With `direct`, the relay of the settings is the only one: administrators can test it, and neither list relays nor see the queue.',
    }),
    limits: {
      contentBytes: mebibytes({
        name: 'MAIL_QUEUE_SIZE_MAX',
        min: 2,
        max: 4_096,
        default: 64,
        description:
          'All mails in the queue, dead ones included, as they are stored. The last MiB is kept for codes and notices about security. The embedded database takes mail only while its disk has another 64 MiB free. This server cannot measure the disk of a database elsewhere, so see to that yourself.',
      }),
      mailBytes: mebibytes({
        name: 'MAIL_SIZE_MAX',
        min: 1,
        max: mailBytesMax / 1_048_576,
        default: mailBytesMax / 1_048_576,
        description:
          'One mail, as it is stored. A larger mail is not sent, nor is one that `MAIL_QUEUE_SIZE_MAX` leaves no room for even in an empty queue. Mails over 1 MiB are sent one at a time.',
      }),
      /** A bound for the number, because each mail also takes some memory beside its content. */
      mails: fixed(mailsMax),
      /** More than an administrator looks through. Only hundreds of accounts together could fill the queue with dead mails. */
      deadPerAccount: fixed(100),
      /** As many as an account has reminders by e-mail, which are all recalled when it changes its address. */
      recalledPerAccount: fixed(1_000),
    },
  }),
);
/** Two names, because an installation that moves to this server may use either. */
export const mailSecrets = secret(
  sameOnAllNodes(
    section('Mail', {
      smtpPassword: text({
        name: 'SMTP_PASSWORD',
        description: 'The password of `SMTP_USER`.',
      }),
      smtpPass: text({
        name: 'SMTP_PASS',
        description: 'The same, under its other name.',
      }),
    }),
  ),
);
export interface MailSettings extends SettingsOf<typeof mailSettings> {
  readonly password: string | undefined;
  /** The address of this server, for links; without it mails have none. */
  readonly publicUrl: string | undefined;
}
export const MailSettings = dependency<MailSettings>('the settings of mail');
export const defaultMailSettings: MailSettings = {
  ...defaultsOf(mailSettings),
  password: undefined,
  publicUrl: undefined,
};
