/**
 * Debian's Postfix for tests: a private instance on a loopback port, with configuration, queue and mailboxes in a
 * separate folder. It never touches the machine's mail system. It accepts mail over STARTTLS from authenticated
 * users, and delivers it into maildirs with its own delivery agent. It asks the other services of a site in their own
 * protocols (`postfix-services.ts`).
 *
 * Only its master starts as root, and gives that up in each process that it starts.
 */
import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { findProgram } from '../../tools/program.ts';
import { postfix as program } from '../../tools/programs.ts';
import type { Issued } from './certificates.ts';
import { freePorts } from './free-ports.ts';
import { type Account, startPasswordService, startPolicyService } from './postfix-services.ts';

export interface PostfixOptions {
  readonly certificate: Issued;
  readonly account: Account;
  /** It accepts no users. */
  readonly mailboxes: readonly string[];
  /** The action for authenticated users, in the format of `access(5)`; `DUNNO` lets the mail in. */
  readonly policy?: (recipient: string) => string;
  readonly messageBytesMax?: number;
}

export interface Postfix {
  readonly port: number;
  /** The content of this address's mailbox, as delivered. */
  mailbox(address: string): Promise<readonly string[]>;
  /** Its own log. */
  log(): Promise<string>;
}

const run = promisify(execFile);

/** `nobody`, the owner of the mailboxes. */
const mailboxOwner = 65_534;
const startLimitMs = 20_000;

/**
 * By process group, one for each instance. Otherwise they would outlive a test process that fails before it stops
 * them.
 */
const running = new Set<number>();
process.once('exit', () => {
  for (const group of [...running]) end(group);
});

export async function startPostfix(
  t: Pick<ExecutionContext, 'teardown'>,
  options: PostfixOptions,
): Promise<Postfix> {
  const file = findProgram(program, process.env);
  if (process.getuid?.() !== 0) throw new Error('Postfix is started by root alone: run this test as root.');
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-postfix-'));
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const [port = 0] = await freePorts(1);
  const policy = await startPolicyService(t, options.policy ?? (() => 'DUNNO'));
  const passwords = await startPasswordService(t, options.account);
  const configuration = await configure(folder, port, options, { policy, passwords });
  // It returns once its sockets are open, and leaves its master running.
  await run(file, ['-c', configuration, 'start'], { timeout: startLimitMs });
  const group = Number(await readFile(join(folder, 'queue/pid/master.pid'), 'utf8'));
  running.add(group);
  t.teardown(() => end(group));
  return {
    port,
    log: () => readFile(join(folder, 'log'), 'utf8'),
    async mailbox(address) {
      const messages = join(folder, 'mailboxes', address, 'new');
      const names = (await readdir(messages).catch(() => [])).toSorted();
      return Promise.all(names.map((name) => readFile(join(messages, name), 'utf8')));
    },
  };
}

/** Resolves to the folder of its configuration. */
async function configure(
  folder: string,
  port: number,
  { certificate, mailboxes, messageBytesMax = 10_240_000 }: PostfixOptions,
  services: { readonly policy: number; readonly passwords: number },
): Promise<string> {
  // Its processes run as other users.
  await chmod(folder, 0o755);
  const configuration = join(folder, 'configuration');
  await mkdir(configuration);
  await mkdir(join(folder, 'queue'));
  await mkdir(join(folder, 'mailboxes'));
  await chown(join(folder, 'mailboxes'), mailboxOwner, mailboxOwner);
  await copyFile(certificate.cert, join(configuration, 'certificate.pem'));
  await copyFile(certificate.key, join(configuration, 'key.pem'));
  const known = mailboxes.map((address) => `{${address}=${address}/}`).join(', ');
  const domains = new Set(mailboxes.map((address) => address.slice(address.indexOf('@') + 1)));
  const settings = {
    compatibility_level: '3.6',
    queue_directory: join(folder, 'queue'),
    data_directory: join(folder, 'data'),
    maillog_file_prefixes: folder,
    maillog_file: join(folder, 'log'),
    myhostname: 'mail.test',
    mydestination: '',
    alias_maps: '',
    local_recipient_maps: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    message_size_limit: messageBytesMax,
    virtual_mailbox_domains: [...domains].join(', '),
    virtual_mailbox_base: join(folder, 'mailboxes'),
    virtual_mailbox_maps: `inline:{${known}}`,
    virtual_uid_maps: `static:${mailboxOwner}`,
    virtual_gid_maps: `static:${mailboxOwner}`,
    smtpd_tls_security_level: 'encrypt',
    smtpd_tls_cert_file: join(configuration, 'certificate.pem'),
    smtpd_tls_key_file: join(configuration, 'key.pem'),
    smtpd_tls_received_header: 'yes',
    smtpd_sasl_auth_enable: 'yes',
    smtpd_sasl_authenticated_header: 'yes',
    smtpd_sasl_type: 'dovecot',
    smtpd_sasl_path: `inet:127.0.0.1:${services.passwords}`,
    smtpd_recipient_restrictions: `reject_unlisted_recipient, check_policy_service inet:127.0.0.1:${services.policy}, permit_sasl_authenticated, reject`,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  await writeFile(join(configuration, 'main.cf'), lines.join(''));
  await writeFile(join(configuration, 'master.cf'), servicesAt(port));
  return configuration;
}

/** Without the processes that send mail on, or take it from users of this machine. */
const servicesAt = (port: number): string => `
127.0.0.1:${port} inet n  -  n  -  -  smtpd
cleanup   unix  n  -  n  -     0  cleanup
qmgr      unix  n  -  n  300   1  qmgr
tlsmgr    unix  -  -  n  1000? 1  tlsmgr
rewrite   unix  -  -  n  -     -  trivial-rewrite
bounce    unix  -  -  n  -     0  bounce
defer     unix  -  -  n  -     0  bounce
trace     unix  -  -  n  -     0  bounce
proxymap  unix  -  -  n  -     -  proxymap
anvil     unix  -  -  n  -     1  anvil
error     unix  -  -  n  -     -  error
retry     unix  -  -  n  -     -  error
virtual   unix  -  n  n  -     -  virtual
postlog   unix-dgram n - n -   1  postlogd
`;

/** The master is the leader of a group of all its processes. */
function end(group: number): void {
  running.delete(group);
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
