/** `scriptorium.v1.Users`: what operators may see of a user and do for them. */
import { z } from 'zod';
import { exportProgressSchema } from '../actors/export-file.ts';
import { accountTable, findUser } from '../actors/identity/account-table.ts';
import { normaliseUsername, normaliseWorkspace } from '../actors/identity/usernames.ts';
import { UserAdministration } from '../actors/user/operator-contract.ts';
import { UserState, type UsersService } from '../proto/generated/scriptorium/v1/users.ts';
import { lookup } from '../runtime/command.ts';
import { type AskOptions, unlessAbsent } from '../runtime/handles.ts';
import type { Handlers } from './calls.ts';
import { failedPrecondition, invalidArgument, notFound, okOrThrow } from './errors.ts';
import { limitField, textField, uuidField } from './fields.ts';
import type { InternalApiOptions } from './internal-api-options.ts';
import { numberToken } from './pages.ts';

type Options = Pick<InternalApiOptions, 'actors' | 'lookups' | 'workspacesPerEmail' | 'logger'>;

export function usersHandlers(options: Options): Handlers<UsersService> {
  const { actors, logger } = options;

  async function setAdministrator(uuid: string, administrator: boolean, ask: AskOptions) {
    const { userUuid, user } = userOf(actors, uuid);
    const { changed } = await known(user.operatorSetAdministrator({ administrator }, ask));
    logger.info(
      { userUuid, administrator, changed },
      'an operator has said whether a user is an administrator',
    );
    return { changed };
  }

  async function setBan(uuid: string, banned: boolean, reason: string | null, ask: AskOptions) {
    const { userUuid, user } = userOf(actors, uuid);
    const { outcome } = await known(user.operatorSetBan({ banned, reason, by: 'operator' }, ask));
    if (outcome === 'administrator') {
      throw failedPrecondition('The user is an administrator. Demote the user first.');
    }
    if (outcome === 'busy') {
      throw failedPrecondition('The user is banning somebody right now. Try again in two minutes.');
    }
    const changed = outcome === 'set';
    logger.info({ userUuid, banned, changed }, 'an operator has said whether a user is banned');
    return { changed };
  }

  return {
    find: findHandler(options),
    list: listHandler(options),

    show: showHandler(options),
    resetFactors: resetFactorsHandler(options),

    async signOut(request, ask) {
      const { user } = userOf(actors, request.userUuid);
      return { endedSessions: (await known(user.operatorEndSessions({}, ask))).ended };
    },

    promote: ({ userUuid }, ask) => setAdministrator(userUuid, true, ask),
    demote: ({ userUuid }, ask) => setAdministrator(userUuid, false, ask),

    ban({ userUuid, reason }, ask) {
      return setBan(userUuid, true, reason === '' ? null : textField('reason', reason), ask);
    },
    unban: ({ userUuid }, ask) => setBan(userUuid, false, null, ask),

    async showFlags(request, ask) {
      const { user } = userOf(actors, request.userUuid);
      const found = await known(user.operatorFlags({}, ask));
      const flags = Object.entries(found.flags).map(([name, value]) => ({ name, value: value ?? undefined }));
      return { flags, nextcloudAppPasswordConfigured: found.nextcloudAppPasswordConfigured };
    },

    async setFlag(request, ask) {
      const { userUuid, user } = userOf(actors, request.userUuid);
      const value = request.value ?? null;
      const change = { name: textField('name', request.name), value, by: 'operator' as const };
      const flag = okOrThrow(await known(user.operatorSetFlag(change, ask)));
      logger.info({ userUuid, flag: flag.name }, 'an operator has set a flag of a user');
      return { flag: { name: flag.name, value: flag.value ?? undefined } };
    },

    async revokeCalendarTokens(request, ask) {
      const { userUuid, user } = userOf(actors, request.userUuid);
      const { revoked } = await known(user.operatorRevokeCalendarTokens({}, ask));
      logger.info({ userUuid, revoked }, 'an operator has revoked the calendar tokens of a user');
      return { revokedTokens: revoked };
    },

    export: exportHandler(options),

    async listAuditEvents(request, ask) {
      const { user } = userOf(actors, request.userUuid);
      const limit = limitField('page_size', request.pageSize);
      const before = numberToken(request.pageToken) || Number.MAX_SAFE_INTEGER;
      const trail = await known(user.operatorAuditTrail({ before, limit }, ask));
      const events = trail.events.map(({ firstAtMs, lastAtMs, device, ipAddress, about, ...event }) => ({
        ...event,
        first: new Date(firstAtMs),
        last: new Date(lastAtMs),
        device: device ?? '',
        ipAddress: ipAddress ?? '',
        about: about ?? '',
      }));
      return { events, nextPageToken: trail.before === null ? '' : String(trail.before) };
    },
  };
}

const showHandler =
  ({ actors }: Options): Handlers<UsersService>['show'] =>
  async (request, ask) => {
    const { userUuid, user } = userOf(actors, request.userUuid);
    const found = await known(user.operatorShow({}, ask));
    const { state, createdAtMs, readonly, bannedAtMs, banReason, ...others } = found;
    const { fileBytes, fileBytesMax, lastUsedAtMs, factors, ...account } = others;
    return {
      userUuid,
      ...account,
      state: state === 'active' ? UserState.ACTIVE : UserState.DELETED,
      created: state === 'active' ? new Date(createdAtMs) : undefined,
      readOnly: readonly,
      bannedSince: dateOf(bannedAtMs),
      banReason: banReason ?? '',
      fileBytes,
      fileBytesMax: fileBytesMax ?? undefined,
      lastUsed: dateOf(lastUsedAtMs),
      factors,
    };
  };

const dateOf = (ms: number | null | undefined) => (typeof ms === 'number' ? new Date(ms) : undefined);

const resetFactorsHandler =
  ({ actors, logger }: Options): Handlers<UsersService>['resetFactors'] =>
  async (request, ask) => {
    const { userUuid, user } = userOf(actors, request.userUuid);
    const factors = await known(user.operatorResetFactors({}, ask));
    logger.info({ userUuid }, 'an operator has turned the second factors of a user off');
    return { factors };
  };

const findHandler =
  ({ lookups, workspacesPerEmail }: Options): Handlers<UsersService>['find'] =>
  async (request) => {
    const email = normaliseUsername(textField('email', request.email));
    const workspace = normaliseWorkspace(request.workspace, workspacesPerEmail);
    const userUuid = await findUser(lookups, { email, workspace });
    if (userUuid === undefined) throw notFound('No user has that address in that workspace.');
    return { userUuid };
  };

const listHandler =
  ({ lookups }: Options): Handlers<UsersService>['list'] =>
  async ({ contains, pageSize, pageToken }) => {
    const limit = limitField('page_size', pageSize);
    // No address is empty, so an empty one is before all.
    const [workspace, identifier] = issuedToken(addressTokenSchema, pageToken, 'list') ?? ['', ''];
    const after = { workspace, identifier };
    const { rows, complete } = await lookups.find(lookup(accountTable, [{}], limit, after));
    const fragment = contains === '' ? '' : normaliseUsername(textField('contains', contains));
    const last = complete ? undefined : rows.at(-1);
    return {
      users: rows
        .filter(({ identifier }) => identifier.includes(fragment))
        .map(({ user_uuid: userUuid, identifier: email, workspace }) => ({ userUuid, email, workspace })),
      nextPageToken: last === undefined ? '' : JSON.stringify([last.workspace, last.identifier]),
    };
  };

/** The last workspace and address of the page before. */
const addressTokenSchema = z.tuple([z.string(), z.string()]);

const exportHandler =
  ({ actors, logger }: Options): Handlers<UsersService>['export'] =>
  async (request, ask) => {
    const { userUuid, user } = userOf(actors, request.userUuid);
    const progress = issuedToken(exportProgressSchema, request.pageToken, 'export') ?? null;
    const { text, next } = await known(user.operatorExport({ progress }, ask));
    if (progress === null) logger.info({ userUuid }, 'an operator exports an account');
    return { text, nextPageToken: next === null ? '' : JSON.stringify(next) };
  };

/** Undefined before the first page. @throws CallError */
function issuedToken<T>(schema: z.ZodType<T>, pageToken: string, by: string): T | undefined {
  if (pageToken === '') return undefined;
  try {
    return schema.parse(JSON.parse(pageToken));
  } catch {
    throw invalidArgument(`page_token was not issued by this ${by}.`);
  }
}

function userOf(actors: Options['actors'], uuid: string) {
  const userUuid = uuidField('user_uuid', uuid);
  return { userUuid, user: actors.get(UserAdministration, userUuid).ask };
}

async function known<T>(answer: Promise<T>): Promise<T> {
  const found = await unlessAbsent(answer);
  if (found === undefined) throw notFound('There is no user with that uuid.');
  return found;
}
