/**
 * A machine without a container engine, on which the commands of Compose do what they ask for. The containers are processes: with
 * the environment that Compose gives them, and with the paths and addresses of this machine for those of the containers.
 */
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import pg from 'pg';
import { parsedCompose } from '../helm/compose-command.ts';
import {
  type ComposeProject,
  composeProject,
  containerfile,
  secretAt,
  serverEnvironment,
} from '../kit/compose-project.ts';
import { freePorts } from '../kit/free-ports.ts';
import { startNatsServer, type TestNatsServer } from '../kit/nats-server.ts';
import { type DatabaseConnection, databaseUrl, startTestPostgres } from '../kit/postgres.ts';
import { relocated } from './commands.ts';
import { Sandbox, type StartedServer } from './sandbox.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** What the server is told to run, unless a command says something else. */
const ofImage = (instruction: 'ENTRYPOINT' | 'CMD'): readonly string[] =>
  JSON.parse(new RegExp(`^${instruction} (.+)$`, 'm').exec(containerfile)?.[1] ?? '[]');

export class ComposeMachine {
  readonly url: string;
  readonly #t: ExecutionContext;
  readonly #sandbox: Sandbox;
  readonly #port: number;
  readonly #places: Readonly<Record<string, string>>;
  #database: DatabaseConnection | undefined;
  #nats: TestNatsServer | undefined;
  #server: StartedServer | undefined;

  static async make(t: ExecutionContext): Promise<ComposeMachine> {
    const [port = 0] = await freePorts(1);
    return new ComposeMachine(t, port);
  }

  private constructor(t: ExecutionContext, port: number) {
    this.#t = t;
    this.#port = port;
    this.url = `http://localhost:${port}`;
    this.#sandbox = new Sandbox(t);
    const { path } = this.#sandbox;
    this.#places = {
      '/opt/scriptorium': path,
      '/var/lib/scriptorium-files': join(path, 'data-of-files'),
      '/var/lib/scriptorium': join(path, 'data-of-server'),
      '/run/secrets': join(path, 'data-secrets'),
    };
    for (const folder of Object.values(this.#places)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    symlinkSync(join(path, 'dist/cli/main.js'), join(path, '.programs', 'scriptorium'));
  }

  /** The file `.env` beside `compose.yaml`. */
  set(settings: string): void {
    writeFileSync(join(this.#sandbox.path, '.env'), settings);
  }

  /** Resolves to the output. */
  async type(line: string): Promise<string> {
    if (!line.trim().startsWith('docker compose ')) return this.#sandbox.run(line);
    const { name, options, args } = parsedCompose(line);
    const [service, ...command] = args;
    switch (name) {
      case 'up':
        if (options.has('build')) await this.#sandbox.run('npm run build');
        await this.#up();
        return '';
      case 'start':
      case 'restart':
        this.#expect('server', service);
        await this.#up();
        return '';
      case 'stop':
        this.#expect('server', service);
        await this.#stop();
        return '';
      case 'ps':
        return `server  ${this.#server === undefined ? 'Exited' : 'Up'}\n`;
      case 'logs':
        return (this.#server?.lines ?? []).slice(-Number(options.get('tail'))).join('\n');
      case 'cp':
        this.#copy(service, command);
        return '';
      case 'exec':
        if (service === 'postgres') return this.#inDatabase(command);
        this.#expect('server', this.#server && service);
        return this.#inContainer(command);
      case 'run':
        this.#expect('server', service);
        return this.#inContainer([...(entrypointOf(options) ?? ofImage('ENTRYPOINT')), ...command]);
      default:
        throw new Error(`nobody here does what ${line} asks for`);
    }
  }

  #expect(service: string, given: string | undefined): void {
    if (given !== service) throw new Error(`it is ${given}, and not ${service}, that runs`);
  }

  #here(text: string): string {
    return relocated(text, this.#places);
  }

  async #up(): Promise<void> {
    const project = composeProject(this.#sandbox.path);
    this.#database ??= await this.#startDatabase(project);
    this.#nats ??= await this.#startNats();
    for (const name of Object.keys(project.secrets)) {
      const text = secretAt(project, name).replace(
        /@postgres:5432\/scriptorium/,
        this.#addressOf(this.#database),
      );
      writeFileSync(this.#here(`/run/secrets/${name}`), text);
    }
    await this.#stop();
    this.#server = await this.#sandbox.start(
      `${this.#settings(project)}\nexec ${[...ofImage('ENTRYPOINT'), ...ofImage('CMD')].join(' ')}`,
    );
  }

  async #stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  /** With the user and the password of the project. */
  async #startDatabase(project: ComposeProject): Promise<DatabaseConnection> {
    const postgres = await startTestPostgres({});
    this.#t.teardown(() => postgres.stop());
    const { POSTGRES_USER: user = '', POSTGRES_PASSWORD_FILE: file = '' } =
      project.services.postgres.environment;
    const admin = await postgres.createDatabase();
    const password = secretAt(project, file).trim();
    await queried(admin, `ALTER ROLE ${user} PASSWORD '${password}'`);
    return { ...admin, user, password, database: 'scriptorium' };
  }

  /** The part of its URL that follows user and password. */
  #addressOf(connection: DatabaseConnection): string {
    const url = databaseUrl(connection);
    return url.slice(url.indexOf('@'));
  }

  async #startNats(): Promise<TestNatsServer> {
    const nats = await startNatsServer();
    this.#t.teardown(() => nats.stop());
    return nats;
  }

  /** Commands of a shell that set the environment of the server. Its ports are those of this machine. */
  #settings(project: ComposeProject): string {
    const address = project.services.server.ports?.[0]?.host_ip ?? '';
    const { PATH: _, ...environment } = serverEnvironment(project);
    const all = { ...environment, HOST: address, PORT: String(this.#port) };
    const lines = Object.entries(all).map(([name, value]) => `export ${name}=${quoted(this.#here(value))}`);
    return lines.join('\n').replace('nats://nats:4222', this.#nats?.url ?? '');
  }

  #inContainer(command: readonly string[]): Promise<string> {
    const project = composeProject(this.#sandbox.path);
    const words = command.map((word) => quoted(this.#here(word)));
    // As the image is made.
    chmodSync(join(this.#sandbox.path, 'dist/cli/main.js'), 0o755);
    return this.#sandbox.run(`${this.#settings(project)}\n${words.join(' ')}`);
  }

  /** The programs of the image of PostgreSQL that the documents use. */
  async #inDatabase(command: readonly string[]): Promise<string> {
    if (this.#database === undefined) throw new Error('the database does not run');
    const [program] = command;
    const admin = { ...this.#database, database: 'postgres' };
    switch (command.join(' ')) {
      case 'dropdb --username scriptorium --force scriptorium':
        return queried(admin, 'DROP DATABASE scriptorium WITH (FORCE)');
      case 'createdb --username scriptorium scriptorium':
        return queried(admin, 'CREATE DATABASE scriptorium');
      default:
        throw new Error(`nobody here knows this ${program}`);
    }
  }

  /** The content of a folder of the server. */
  #copy(from: string | undefined, [to = '']: readonly string[]): void {
    const [service, folder = ''] = from?.split(':') ?? [];
    this.#expect('server', service);
    if (!folder.endsWith('/.')) throw new Error(`a second copy of ${folder} would lie within the first one`);
    cpSync(this.#here(folder), join(this.#sandbox.path, to), { recursive: true });
  }
}

const entrypointOf = (options: ReadonlyMap<string, string>): readonly string[] | undefined =>
  options.has('entrypoint') ? [options.get('entrypoint') ?? ''] : undefined;

async function queried(connection: DatabaseConnection, sql: string): Promise<string> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(sql);
    return '';
  } finally {
    await client.end();
  }
}
