/**
 * The audience of each vault: its members who have sockets in this process. A vault is subscribed to once, however
 * many they are.
 *
 *     named      the user's actor says that the user is a member, and by which membership: a hint
 *     admitted   the vault has said so too, and has subscribed this gateway: the user hears what it publishes
 *     gone       the vault says that the user is no member, or publishes that they no longer are
 *
 * - An answer of the vault counts only for users who were named when it was asked, and still are. So an outdated answer does not
 *   admit a user who was removed meanwhile.
 * - Each vault gets one question at a time, about all users who were named meanwhile. A bounded number of vaults is
 *   asked at once.
 * - If a vault does not answer, or there is no capacity, the sockets stay and their clients poll. The subscriptions
 *   repeat the registration until there is an answer.
 */

import { subscribersMax, Vault } from '../../actors/vault/contract.ts';
import type { SubscribedActors } from '../../runtime/events.ts';
import { type FairShare, mayTakeOneMore } from '../../runtime/fair-share.ts';
import { type Actors, unlessAbsent } from '../../runtime/handles.ts';
import { Semaphore } from '../../runtime/semaphore.ts';
import type { SocketMetrics } from './metrics.ts';

export interface AudiencesOptions {
  readonly actors: Actors;
  readonly gateway: string;
  readonly subscriptions: Pick<SubscribedActors, 'add' | 'registered' | 'failed' | 'remove'>;
  readonly metrics: Pick<SocketMetrics, 'vaultAsked'>;
  /** Memberships of all users together. */
  readonly membershipsMax: number;
}

interface AudienceListener {
  membership: number;
  isAdmitted: boolean;
}

interface Audience {
  readonly vaultUuid: string;
  readonly listeners: Map<string, AudienceListener>;
  /** Resolves to whether the vault has answered. */
  asking: Promise<boolean> | undefined;
}

const askMs = 5_000;
const asksMax = 64;
const share: FairShare = { least: 16, percentOfFree: 3 };

export class Audiences {
  readonly #options: AudiencesOptions;
  readonly #byVault = new Map<string, Audience>();
  readonly #vaultsOf = new Map<string, Set<string>>();
  readonly #asks = new Semaphore(asksMax);
  #memberships = 0;

  constructor(options: AudiencesOptions) {
    this.#options = options;
  }

  get vaults(): number {
    return this.#byVault.size;
  }

  /** Resolves once the vaults have answered, or have failed to. True if any had to be asked and has answered. */
  async join(userUuid: string, vaults: Readonly<Record<string, number>>): Promise<boolean> {
    const answers: Promise<boolean>[] = [];
    for (const [vaultUuid, membership] of Object.entries(vaults)) {
      const audience = this.#addListener(vaultUuid, userUuid, membership);
      if (audience !== undefined) answers.push(this.#ask(audience));
    }
    return (await Promise.all(answers)).includes(true);
  }

  /** The user has no more sockets here. */
  leave(userUuid: string): void {
    for (const vaultUuid of [...(this.#vaultsOf.get(userUuid) ?? [])])
      this.#removeListener(vaultUuid, userUuid);
  }

  /** The vault has published that this membership is over. A later one stays. */
  removed(vaultUuid: string, userUuid: string, membership: number): void {
    const listener = this.#byVault.get(vaultUuid)?.listeners.get(userUuid);
    if (listener !== undefined && listener.membership <= membership)
      this.#removeListener(vaultUuid, userUuid);
  }

  /** The users whose sockets get the events of the vault. */
  *admittedTo(vaultUuid: string): Iterable<string> {
    for (const [userUuid, { isAdmitted }] of this.#byVault.get(vaultUuid)?.listeners ?? []) {
      if (isAdmitted) yield userUuid;
    }
  }

  isAdmitted(vaultUuid: string, userUuid: string): boolean {
    return this.#byVault.get(vaultUuid)?.listeners.get(userUuid)?.isAdmitted ?? false;
  }

  /** Asks about all of them again, and resolves to the incarnation of the vault's host. @throws ActorError */
  async register(vaultUuid: string, actors: Actors): Promise<string | undefined> {
    const audience = this.#byVault.get(vaultUuid);
    return audience && this.#admit(audience, new Map(audience.listeners), actors);
  }

  /** Undefined if there is nothing to ask. */
  #addListener(vaultUuid: string, userUuid: string, membership: number): Audience | undefined {
    const audience = this.#byVault.get(vaultUuid) ?? { vaultUuid, listeners: new Map(), asking: undefined };
    const known = audience.listeners.get(userUuid);
    if (known !== undefined && known.membership >= membership) return known.isAdmitted ? undefined : audience;
    const free = this.#options.membershipsMax - this.#memberships;
    const held = this.#vaultsOf.get(userUuid)?.size ?? 0;
    if (known === undefined && !mayTakeOneMore(held, free, share)) {
      this.#options.metrics.vaultAsked('full');
      return undefined;
    }
    if (known === undefined) this.#memberships += 1;
    audience.listeners.set(userUuid, { membership, isAdmitted: false });
    this.#byVault.set(vaultUuid, audience);
    this.#vaultsOf.set(userUuid, (this.#vaultsOf.get(userUuid) ?? new Set()).add(vaultUuid));
    this.#options.subscriptions.add(actorOf(vaultUuid));
    return audience;
  }

  #removeListener(vaultUuid: string, userUuid: string): void {
    const audience = this.#byVault.get(vaultUuid);
    if (audience?.listeners.delete(userUuid) !== true) return;
    this.#memberships -= 1;
    const vaults = this.#vaultsOf.get(userUuid);
    vaults?.delete(vaultUuid);
    if (vaults?.size === 0) this.#vaultsOf.delete(userUuid);
    if (audience.listeners.size > 0) return;
    this.#byVault.delete(vaultUuid);
    this.#options.subscriptions.remove(actorOf(vaultUuid));
  }

  #ask(audience: Audience): Promise<boolean> {
    audience.asking ??= this.#askUntilAnswered(audience);
    return audience.asking;
  }

  async #askUntilAnswered(audience: Audience): Promise<boolean> {
    const { actors, subscriptions, metrics } = this.#options;
    const actor = actorOf(audience.vaultUuid);
    try {
      for (let named = notAdmitted(audience); named.size > 0; named = notAdmitted(audience)) {
        const members = named;
        const host = await this.#asks.run(() => this.#admit(audience, members, actors));
        metrics.vaultAsked('answered');
        if (host !== undefined) subscriptions.registered(actor, host);
      }
      return true;
    } catch (error) {
      metrics.vaultAsked('failed');
      subscriptions.failed(actor, error);
      return false;
    } finally {
      audience.asking = undefined;
    }
  }

  async #admit(
    audience: Audience,
    named: ReadonlyMap<string, AudienceListener>,
    actors: Actors,
  ): Promise<string | undefined> {
    const users = [...named.keys()];
    let host: string | undefined;
    for (let at = 0; at < users.length; at += subscribersMax) {
      const part = users.slice(at, at + subscribersMax);
      const answer = await this.#membershipsOf(audience.vaultUuid, part, actors);
      host = answer.host ?? host;
      for (const userUuid of part) {
        const listener = audience.listeners.get(userUuid);
        if (listener === undefined || listener !== named.get(userUuid)) continue;
        const membership = answer.memberships[userUuid];
        if (membership === undefined) this.#removeListener(audience.vaultUuid, userUuid);
        else Object.assign(listener, { membership, isAdmitted: true });
      }
    }
    return host;
  }

  async #membershipsOf(
    vaultUuid: string,
    users: readonly string[],
    actors: Actors,
  ): Promise<{ memberships: Readonly<Record<string, number>>; host?: string | undefined }> {
    const { gateway } = this.#options;
    const answer = actors.get(Vault, vaultUuid).ask.subscribe({ gateway, users }, { deadlineMs: askMs });
    // Absent: the membership has ended.
    return (await unlessAbsent(answer)) ?? { memberships: {} };
  }
}

const actorOf = (vaultUuid: string) => ({ kind: Vault.name, id: vaultUuid });

function notAdmitted({ listeners }: Audience): ReadonlyMap<string, AudienceListener> {
  return new Map([...listeners].filter(([, { isAdmitted }]) => !isAdmitted));
}
