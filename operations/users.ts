/** `scriptorium.v1.Users`: what operators may see of a user and do for them. */
import { z } from 'zod';
import { type ExportProgress, exportProgressSchema } from '../actors/export-file.ts';
import { accountTable, findUser } from '../actors/identity/account-table.ts';
import { normaliseUsername, normaliseWorkspace } from '../actors/identity/usernames.ts';
import { UserAdministration } from '../actors/user/operator-contract.ts';
import { UserState, type UsersService } from '../proto/generated/scriptorium/v1/users.ts';
import { lookup } from '../runtime/command.ts';
import { NotFoundError } from '../runtime/errors.ts';
import type { AskOptions } from '../runtime/handles.ts';
import type { Handlers } from './calls.ts';
import { failedPrecondition, invalidArgument, notFound, okOrThrow } from './errors.ts';
import { limitField, textField, uuidField } from './fields.ts';
import type { InternalApiOptions } from './internal-api-options.ts';
import { numberToken } from './pages.ts';

type Options = Pick<InternalApiOptions, 'actors' | 'lookups' | 'workspacesPerEmail' | 'logger'>;

export function usersHandlers(options: Options): Handlers<UsersService> {
  const { actors, logger } = options;

  async function setAdministrator(userUuidText: string, administrator: boolean, ask: AskOptions) {
    const userUuid = uuidField('user_uuid', userUuidText);
    const answer = actors
      .get(UserAdministration, userUuid)
      .ask.operatorSetAdministrator({ administrator }, ask);
    const { changed } = await known(answer);
    logger.info(
      { userUuid, administrator, changed },
      'an operator has said whether a user is an administrator',
    );
    return { changed };
  }

  async function setBan(userUuidText: string, banned: boolean, reason: string | null, ask: AskOptions) {
    const userUuid = uuidField('user_uuid', userUuidText);
    const answer = actors
      .get(UserAdministration, userUuid)
      .ask.operatorSetBan({ banned, reason, by: 'operator' }, ask);
    const { outcome } = await known(answer);
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
      const userUuid = uuidField('user_uuid', request.userUuid);
      const answer = actors.get(UserAdministration, userUuid).ask.operatorEndSessions({}, ask);
      return { endedSessions: (await known(answer)).ended };
    },

    promote: ({ userUuid }, ask) => setAdministrator(userUuid, true, ask),
    demote: ({ userUuid }, ask) => setAdministrator(userUuid, false, ask),

    ban({ userUuid, reason }, ask) {
      return setBan(userUuid, true, reason === '' ? null : textField('reason', reason), ask);
    },
    unban: ({ userUuid }, ask) => setBan(userUuid, false, null, ask),

    async showFlags(request, ask) {
      const userUuid = uuidField('user_uuid', request.userUuid);
      const found = await known(actors.get(UserAdministration, userUuid).ask.operatorFlags({}, ask));
      const flags = Object.entries(found.flags).map(([name, value]) => ({ name, value: value ?? undefined }));
      return { flags, nextcloudAppPasswordConfigured: found.nextcloudAppPasswordConfigured };
    },

    async setFlag(request, ask) {
      const userUuid = uuidField('user_uuid', request.userUuid);
      const value = request.value ?? null;
      const change = { name: textField('name', request.name), value, by: 'operator' as const };
      const answer = await known(actors.get(UserAdministration, userUuid).ask.operatorSetFlag(change, ask));
      const flag = okOrThrow(answer);
      logger.info({ userUuid, flag: flag.name }, 'an operator has set a flag of a user');
      return { flag: { name: flag.name, value: flag.value ?? undefined } };
    },

    async revokeCalendarTokens(request, ask) {
      const userUuid = uuidField('user_uuid', request.userUuid);
      const answer = actors.get(UserAdministration, userUuid).ask.operatorRevokeCalendarTokens({}, ask);
      const { revoked } = await known(answer);
      logger.info({ userUuid, revoked }, 'an operator has revoked the calendar tokens of a user');
      return { revokedTokens: revoked };
    },

    export: exportHandler(options),

    async listAuditEvents(request, ask) {
      const userUuid = uuidField('user_uuid', request.userUuid);
      const limit = limitField('page_size', request.pageSize);
      const before = numberToken(request.pageToken) || Number.MAX_SAFE_INTEGER;
      const answer = actors.get(UserAdministration, userUuid).ask.operatorAuditTrail({ before, limit }, ask);
      const trail = await known(answer);
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
    const userUuid = uuidField('user_uuid', request.userUuid);
    const found = await known(actors.get(UserAdministration, userUuid).ask.operatorShow({}, ask));
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
    const userUuid = uuidField('user_uuid', request.userUuid);
    const factors = await known(actors.get(UserAdministration, userUuid).ask.operatorResetFactors({}, ask));
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
    const after = addressToken(pageToken);
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

const addressTokenSchema = z.tuple([z.string(), z.string()]);

/** The last address of the page before. No address is empty, so an empty one is before all. @throws CallError */
function addressToken(pageToken: string): { readonly workspace: string; readonly identifier: string } {
  if (pageToken === '') return { workspace: '', identifier: '' };
  try {
    const [workspace, identifier] = addressTokenSchema.parse(JSON.parse(pageToken));
    return { workspace, identifier };
  } catch {
    throw invalidArgument('page_token was not issued by this list.');
  }
}

const exportHandler =
  ({ actors, logger }: Options): Handlers<UsersService>['export'] =>
  async (request, ask) => {
    const userUuid = uuidField('user_uuid', request.userUuid);
    const progress = progressIn(request.pageToken);
    const answer = actors.get(UserAdministration, userUuid).ask.operatorExport({ progress }, ask);
    const { text, next } = await known(answer);
    if (progress === null) logger.info({ userUuid }, 'an operator exports an account');
    return { text, nextPageToken: next === null ? '' : JSON.stringify(next) };
  };

/** @throws CallError */
function progressIn(pageToken: string): ExportProgress | null {
  if (pageToken === '') return null;
  try {
    return exportProgressSchema.parse(JSON.parse(pageToken));
  } catch {
    throw invalidArgument('page_token was not issued by this export.');
  }
}

async function known<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NotFoundError) throw notFound('There is no user with that uuid.');
    throw error;
  }
}
