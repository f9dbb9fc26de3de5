/**
 * A person who shares vaults and keeps files: an account, a device and a connection to the server. Their actions are
 * in the history.
 */

import type { SeededRandom } from '../../kit/random.ts';
import { type Account, register, signIn } from '../account.ts';
import type { Answer, Client, Request } from '../client.ts';
import { UnansweredError } from '../client.ts';
import { Device, RefusedError } from '../device.ts';
import type { History } from '../history.ts';
import type { Operation } from '../operations.ts';
import type { Tally } from '../tally.ts';
import type { SharedFacts } from './shared-facts.ts';

export interface PersonOptions {
  readonly facts: SharedFacts;
  readonly client: Client;
  readonly history: History;
  readonly random: SeededRandom;
  readonly tally: Tally;
  /** The quota of their files. */
  readonly limitBytes: number;
}

/** One call of an act. */
export type Send = (request: Request) => Promise<Answer>;

export interface RequestResult {
  readonly status: number;
  readonly vault?: string;
  readonly whole?: boolean;
}

export interface ListedVault {
  readonly uuid: string;
  readonly owner: string;
}

interface Life {
  readonly account: Account;
  readonly token: string;
  readonly device: Device;
  readonly name: string;
}

export class Person {
  readonly facts: SharedFacts;
  readonly client: Client;
  readonly history: History;
  readonly random: SeededRandom;
  readonly limitBytes: number;
  /** From their last list, which may be old. */
  vaults: readonly ListedVault[] = [];
  readonly #options: PersonOptions;
  #life: Life;
  #lives = 1;

  private constructor(options: PersonOptions, life: Life) {
    this.#options = options;
    this.facts = options.facts;
    this.client = options.client;
    this.history = options.history;
    this.random = options.random;
    this.limitBytes = options.limitBytes;
    this.#life = life;
  }

  static async enter(options: PersonOptions): Promise<Person> {
    return new Person(options, await begin(options, 1));
  }

  get userUuid(): string {
    return this.#life.account.userUuid;
  }

  get account(): Account {
    return this.#life.account;
  }

  get device(): Device {
    return this.#life.device;
  }

  get token(): string {
    return this.#life.token;
  }

  get owned(): readonly ListedVault[] {
    return this.vaults.filter(({ owner }) => owner === this.userUuid);
  }

  others(): readonly string[] {
    return [...this.facts.users].filter((user) => user !== this.userUuid);
  }

  /** Sends a request that changes nothing. */
  async get<T>(path: string): Promise<T | undefined> {
    const { status, body } = await this.client.call({ method: 'GET', path, token: this.token });
    return status === 200 ? (body as T) : undefined;
  }

  async listVaults(): Promise<void> {
    const listed = await this.get<{ sharedVaults: { uuid: string; user_uuid: string }[] }>(
      '/v1/shared-vaults',
    );
    this.vaults = (listed?.sharedVaults ?? []).map(({ uuid, user_uuid: owner }) => ({ uuid, owner }));
    for (const { uuid: vault } of this.vaults) {
      if (this.facts.vaults.has(vault)) continue;
      // They made it in a call whose answer was lost.
      this.facts.vaults.add(vault);
      this.history.add({ event: 'found', user: this.userUuid, vault });
    }
  }

  /** Does one thing, in as many calls as it takes. @throws RefusedError, UnansweredError */
  async perform(operation: Operation, steps: (send: Send) => Promise<RequestResult>): Promise<RequestResult> {
    const { history } = this;
    const call = history.nextCall();
    history.add({ event: 'asked', call, user: this.userUuid, device: this.#life.name, operation });
    const send: Send = async (request) => {
      const answer = await this.client.call(request, () => history.add({ event: 'repeated', call }));
      const { status } = answer;
      if (status < 500) return answer;
      const text = `${request.path}: ${answer.bytes.toString().slice(0, 300)}`;
      history.add({ event: 'failed', call, status, text });
      throw new Error(`${operation.does} was answered ${status}`);
    };
    try {
      const { status, vault, whole } = await steps(send);
      if (status === 401) {
        history.add({ event: 'refused', call });
        throw new RefusedError('the session is not accepted');
      }
      const outcome = {
        status,
        ...(vault !== undefined && { vault }),
        ...(whole !== undefined && { whole }),
      };
      history.add({ event: 'done', call, ...outcome });
      this.#options.tally.act(operation.does, status === 200);
      return outcome;
    } catch (error) {
      if (error instanceof UnansweredError) history.add({ event: 'unanswered', call });
      throw error;
    }
  }

  /** An act that is a single call of the person's session. */
  performOnce(operation: Operation, request: Omit<Request, 'token'>): Promise<RequestResult> {
    return this.perform(operation, async (send) => {
      const { status } = await send({ ...request, token: this.token });
      return { status };
    });
  }

  /** The person deletes their account, and comes back as somebody else. */
  async beginAnew(): Promise<void> {
    const { userUuid, history, facts } = this;
    const { password } = this.account;
    history.add({ event: 'closing', device: this.#life.name });
    await this.perform({ does: 'delete-account' }, async (send) => {
      const headers = { 'x-server-password': password };
      const { status } = await send({
        method: 'DELETE',
        path: `/v1/users/${userUuid}`,
        headers,
        token: this.token,
      });
      // 401: an earlier attempt has deleted it, and its answer was lost.
      return { status: status === 401 ? 200 : status };
    });
    facts.users.delete(userUuid);
    this.#lives += 1;
    this.#life = await begin(this.#options, this.#lives);
    this.vaults = [];
  }
}

async function begin(options: PersonOptions, lives: number): Promise<Life> {
  const { client, facts } = options;
  const account = await register(client);
  const token = await signIn(client, account);
  const name = `${account.userUuid}/${lives}`;
  facts.users.add(account.userUuid);
  return {
    account,
    token,
    name,
    device: new Device({ ...options, user: account.userUuid, name, accessToken: token }),
  };
}
