/** Records every statement that the store, its contract and the migrations send to a real PostgreSQL. */
import type { DatabaseConnection, TestPostgres } from '../kit/postgres.ts';
import { PostgresProxy, type ProxiedStatement } from '../kit/postgres-proxy.ts';

export class StatementRecorder {
  readonly #proxies: PostgresProxy[] = [];
  readonly #texts = new Map<string, string[]>();
  #sent: string[] = [];

  /** A server whose databases clients reach through the recorder. */
  through(server: TestPostgres): TestPostgres {
    return {
      createDatabase: async () => this.#record(await server.createDatabase()),
      stop: () => server.stop(),
    };
  }

  /** The sent texts: single ones, and whole transactions from BEGIN to their end. Each once. */
  scripts(): readonly (readonly string[])[] {
    const scripts = [...this.#texts.values()].flatMap(cutTransactions);
    return [...new Map(scripts.map((script) => [script.join('\u0000'), script])).values()];
  }

  /** Every text since the last call, in the order of sending. */
  takeSent(): readonly string[] {
    const sent = this.#sent;
    this.#sent = [];
    return sent;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.stop()));
  }

  async #record(connection: DatabaseConnection): Promise<DatabaseConnection> {
    const proxy = await PostgresProxy.start(connection);
    const number = this.#proxies.push(proxy);
    proxy.onStatement = (statement) => {
      this.#add(number, statement);
      return undefined;
    };
    return proxy.connection;
  }

  #add(proxy: number, { connection, text }: ProxiedStatement): void {
    const key = `${proxy}/${connection}`;
    this.#sent.push(text);
    const known = this.#texts.get(key);
    if (known === undefined) this.#texts.set(key, [text]);
    else known.push(text);
  }
}

function cutTransactions(texts: readonly string[]): readonly (readonly string[])[] {
  const scripts: string[][] = [];
  let open: string[] | undefined;
  for (const text of texts) {
    if (open !== undefined) open.push(text);
    else scripts.push([text]);
    if (text === 'BEGIN') open = scripts.at(-1);
    if (text === 'COMMIT' || text === 'ROLLBACK') open = undefined;
  }
  return scripts;
}
