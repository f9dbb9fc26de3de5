/** Devices of users that sync against the real runtime over the model store. */

import { z } from 'zod';
import { syncItems } from '../../../actors/mod.ts';
import { defaultAccountSettings } from '../../../actors/services.ts';
import { createItemCommands, itemSlices, itemTables } from '../../../actors/user/items/commands.ts';
import type { ModernSyncReply } from '../../../actors/user/items/reply.ts';
import type { SyncRequest } from '../../../actors/user/items/request.ts';
import { defaultItemSettings, type ItemSettings } from '../../../actors/user/items/settings.ts';
import { noProfile, profileSlice } from '../../../actors/user/profile.ts';
import type { Refusal } from '../../../actors/user/refusal.ts';
import type { Credentials } from '../../../actors/user/sessions/credentials.ts';
import { revokedSessionMap, secretHash, sessionMap } from '../../../actors/user/sessions/session.ts';
import type { SignedInReply } from '../../../actors/user/signed-in.ts';
import { command } from '../../../runtime/command.ts';
import { kind } from '../../../runtime/kind.ts';
import { startTestHost, type TestHost, type TestHostOptions } from '../../kit/host.ts';

const hour = 3_600_000;

/** Opens a session without the way through registration, which is not what these tests are about. */
const openSession = command({
  creates: true,
  request: z.object({ uuid: z.string(), secret: z.string(), readonly: z.boolean() }),
  reply: z.object({}),
  turn: (turn, { uuid, secret, readonly }) => {
    turn.set(profileSlice, { ...noProfile, state: 'active', email: 'a@example.org' });
    turn.setEntry(sessionMap, uuid, {
      uuid,
      privateIdentifier: uuid,
      current: { style: 1, accessHash: secretHash(secret), refreshHash: '' },
      replaced: [],
      accessExpiresAtMs: turn.nowMs + hour,
      refreshExpiresAtMs: turn.nowMs + hour,
      keptUntilMs: turn.nowMs + hour,
      ephemeral: false,
      readonly,
      apiVersion: '20240226',
      userAgent: null,
      ipAddress: null,
      snjsVersion: null,
      applicationVersion: null,
      createdAtMs: turn.nowMs,
      updatedAtMs: turn.nowMs,
    });
    return {};
  },
});

export function userKind(settings: Partial<ItemSettings> = {}) {
  return kind({
    name: 'user',
    slices: [profileSlice, sessionMap, revokedSessionMap, ...itemSlices],
    tables: [...itemTables],
    commands: {
      openSession,
      ...createItemCommands(defaultAccountSettings, { ...defaultItemSettings, ...settings }),
    },
  });
}

type TestUser = ReturnType<typeof userKind>;

export class World {
  host: TestHost;
  readonly #user: TestUser;
  #sessions = 0;

  private constructor(host: TestHost, user: TestUser) {
    this.host = host;
    this.#user = user;
  }

  static async start(
    settings: Partial<ItemSettings> = {},
    options: Omit<TestHostOptions, 'kinds'> = {},
  ): Promise<World> {
    const user = userKind(settings);
    return new World(await startTestHost({ ...options, kinds: [user] }), user);
  }

  async restart(): Promise<void> {
    this.host = await this.host.restart();
  }

  ask(userUuid: string) {
    return this.host.actors.get(this.#user, userUuid).ask;
  }

  async device(userUuid: string, { readonly = false } = {}): Promise<Device> {
    this.#sessions += 1;
    const uuid = `44444444-4444-4444-8444-${String(this.#sessions).padStart(12, '0')}`;
    const secret = `secret ${this.#sessions}`;
    await this.ask(userUuid).openSession({ uuid, secret, readonly });
    return new Device(this, { userUuid, style: 1, identifier: uuid, secrets: [secret] });
  }
}

/** One client: it keeps the token of its last sync, as snjs does. */
export class Device {
  readonly world: World;
  readonly credentials: Credentials;
  syncToken: string | null = null;

  constructor(world: World, credentials: Credentials) {
    this.world = world;
    this.credentials = credentials;
  }

  /** One request, from where the device stands unless told otherwise. */
  async sync(request: Partial<SyncRequest> = {}): Promise<ModernSyncReply> {
    const reply = answered(await this.send({ sync_token: this.syncToken, ...request })) as ModernSyncReply;
    this.syncToken = reply.sync_token;
    return reply;
  }

  send(request: Partial<SyncRequest>, credentials = this.credentials) {
    return syncItems(this.world.host.actors, {
      api: '20240226',
      snjs_version: '2.204.7',
      ...request,
      credentials,
    });
  }

  /** Every page until there is no cursor. */
  async syncAll(request: Partial<SyncRequest> = {}): Promise<ModernSyncReply[]> {
    const pages = [await this.sync(request)];
    for (let cursor = pages[0]?.cursor_token; cursor !== undefined; cursor = pages.at(-1)?.cursor_token) {
      pages.push(await this.sync({ limit: request.limit, cursor_token: cursor }));
    }
    return pages;
  }

  async checkIntegrity(integrityPayloads: readonly { uuid: string; updated_at_timestamp: number }[]) {
    const { credentials } = this;
    const asked = this.world.ask(credentials.userUuid).checkIntegrity({ integrityPayloads, credentials });
    return answered(await asked).mismatches;
  }

  getItem(uuid: string) {
    const { credentials } = this;
    return this.world.ask(credentials.userUuid).getItem({ uuid, credentials });
  }
}

export function answered<Reply>(reply: SignedInReply<Reply>): Reply {
  if ('refused' in reply) throw new Error(`refused: ${reply.refused.message}`);
  return reply.reply;
}

export function refusedWith(reply: SignedInReply<unknown>): Refusal {
  if ('refused' in reply) return reply.refused;
  throw new Error('not refused');
}
