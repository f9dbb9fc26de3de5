/**
 * What administrators do for users (docs/protocol/account.md, "Administration"). An administrator asks their own actor. It
 * checks that the account is an administrator's, and asks the actor of the other user.
 */
import type { z } from 'zod';
import { lookup } from '../../../runtime/command.ts';
import { unlessAbsent } from '../../../runtime/handles.ts';
import { isUuid } from '../../collection/incoming.ts';
import { accountKey, accountTable } from '../../identity/account-table.ts';
import { normaliseUsername, normaliseWorkspace } from '../../identity/usernames.ts';
import { Instance, instanceId, registrationOf } from '../../instance/contract.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { isoTimeOrNull } from '../../times.ts';
import { beginBanning, endBanning } from '../account/set-ban.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { UserAdministration } from '../operator-contract.ts';
import { adminRequired, banReasonCharactersMax } from '../profile.ts';
import { mayAdminister } from '../sessions/session.ts';
import { type SignedInWorkflow, signedInWorkflow } from '../signed-in.ts';
import { Administration, banFields, flagFields, registrationFields } from './contract.ts';

const userNotFound = refuse.notFound('There is no such user.', 'user-not-found');
const oneself = refuse.badRequest('You cannot ban yourself.');
const noBan = refuse.badRequest(
  `Say whether the user is to be banned: banned, true or false. A reason has ${banReasonCharactersMax} characters at most.`,
);
const noFlag = refuse.badRequest('Give the name of a flag, and its value: a text, or null for none.');
const busy = refuse.conflict('This administrator is banning somebody. Please try again in two minutes.');
const undecided = refuse.badRequest(
  'Say whether registration is to be disabled: registrationDisabled, true or false.',
);

type Steps = Pick<SignedInWorkflow<unknown>, 'turn' | 'actors' | 'use'>;
type LookUpFields = z.infer<typeof Administration.commands.lookUpUser.fields>;

const lookUpUser = signedInWorkflow(Administration.commands.lookUpUser, async (workflow, request) => {
  const uuid = await find(workflow, request);
  return uuid === undefined ? userNotFound : { uuid };
});

const getBan = signedInWorkflow(Administration.commands.getBan, async (workflow, request) => {
  const uuid = await find(workflow, request);
  if (uuid === undefined) return userNotFound;
  const status = await unlessAbsent(operated(workflow, uuid).operatorBanStatus({}));
  return status === undefined ? userNotFound : { uuid, email: status.email, ...toResponse(status) };
});

const setBan = signedInWorkflow(Administration.commands.setBan, async (workflow, { userUuid, ...fields }) => {
  const uuid = userUuid.toLowerCase();
  const { banned, banReason } = await workflow.turn({
    turn: (turn, _reads, by) => {
      if (!mayAdminister(turn, by)) return adminRequired;
      const { data: ban } = banFields.safeParse(fields);
      if (ban === undefined) return noBan;
      if (ban.banned && uuid === turn.self.id) return oneself;
      return ban.banned && !beginBanning(turn, workflow.callId) ? busy : ban;
    },
  });
  const change = { banned, reason: banReason ?? null, by: 'administrator' as const };
  const answer = isUuid(uuid)
    ? await unlessAbsent(operated(workflow, uuid).operatorSetBan(change))
    : undefined;
  return workflow.lastTurn({
    turn: (turn) => {
      endBanning(turn, workflow.callId);
      if (answer === undefined) return userNotFound;
      if (answer.outcome === 'busy') return busy;
      if (answer.outcome === 'set') audit(turn, banned ? 'banned-another' : 'unbanned-another', null, uuid);
      return { success: true, uuid, ...toResponse(answer.status) };
    },
  });
});

const getFlags = signedInWorkflow(Administration.commands.getFlags, async (workflow, { userUuid }) => {
  const uuid = await asAdministrator(workflow, userUuid);
  const found = await unlessAbsent(operated(workflow, uuid).operatorFlags({}));
  return found === undefined ? userNotFound : { userUuid: uuid, ...found };
});

const setFlag = signedInWorkflow(
  Administration.commands.setFlag,
  async (workflow, { userUuid, ...fields }) => {
    const uuid = await asAdministrator(workflow, userUuid);
    const { data: flag } = flagFields.safeParse(fields);
    if (flag === undefined) return noFlag;
    const change = { ...flag, by: 'administrator' as const };
    const answer = await unlessAbsent(operated(workflow, uuid).operatorSetFlag(change));
    if (answer === undefined) return userNotFound;
    if ('refused' in answer) return answer;
    return workflow.lastTurn({
      turn: (turn) => {
        audit(turn, 'changed-flag-of-another', null, uuid);
        return { success: true, userUuid: uuid, ...answer.ok };
      },
    });
  },
);

const getRegistration = signedInWorkflow(Administration.commands.getRegistration, async (workflow) => {
  await workflow.turn({ turn: (turn, _reads, by) => (mayAdminister(turn, by) ? {} : adminRequired) });
  const decided = await unlessAbsent(workflow.actors.get(Instance, instanceId).ask.registration({}));
  return registrationResponse(workflow, decided);
});

const setRegistration = signedInWorkflow(
  Administration.commands.setRegistration,
  async (workflow, fields) => {
    const { registrationDisabled, registrationEnabled } = registrationFields.safeParse(fields).data ?? {};
    const disabled =
      registrationDisabled ?? (registrationEnabled === undefined ? undefined : !registrationEnabled);
    await workflow.turn({
      turn: (turn, _reads, by) => {
        if (!mayAdminister(turn, by)) return adminRequired;
        return disabled === undefined || disabled === registrationEnabled ? undecided : {};
      },
    });
    const change = { disabled: disabled === true };
    const decided = await workflow.actors.get(Instance, instanceId).ask.setRegistration(change);
    return workflow.lastTurn({
      turn: (turn) => {
        audit(turn, decided.disabled ? 'registration-closed' : 'registration-opened');
        return { success: true, ...registrationResponse(workflow, decided) };
      },
    });
  },
);

function registrationResponse(workflow: Pick<Steps, 'use'>, decided: Parameters<typeof registrationOf>[0]) {
  const { registrationDisabled } = workflow.use(AccountSettings);
  const { open, closedBySettings } = registrationOf(decided, registrationDisabled);
  return { registrationDisabled: !open, registrationEnabled: open, enforcedByOperator: closedBySettings };
}

/** The uuid that the administrator named. Text that is not a uuid names no user. */
function asAdministrator(workflow: Steps, userUuidText: string): Promise<string> {
  const uuid = userUuidText.toLowerCase();
  return workflow.turn({
    turn: (turn, _reads, by) => {
      if (!mayAdminister(turn, by)) return adminRequired;
      return isUuid(uuid) ? uuid : userNotFound;
    },
  });
}

function find(workflow: Steps, { email, workspace_identifier }: LookUpFields): Promise<string | undefined> {
  const { workspacesPerEmail } = workflow.use(AccountSettings);
  const address = {
    email: normaliseUsername(email),
    workspace: normaliseWorkspace(workspace_identifier, workspacesPerEmail),
  };
  return workflow.turn({
    reads: () => ({ account: lookup(accountTable, [accountKey(address)]) }),
    turn: (turn, { account }, by) => (mayAdminister(turn, by) ? account.rows[0]?.user_uuid : adminRequired),
  });
}

const operated = (workflow: Steps, userUuid: string) => workflow.actors.get(UserAdministration, userUuid).ask;

interface AccountStatus {
  readonly banned: boolean;
  readonly bannedAtMs: number | null;
  readonly banReason: string | null;
}

const toResponse = ({ banned, bannedAtMs, banReason }: AccountStatus) => ({
  banned,
  bannedAt: isoTimeOrNull(bannedAtMs),
  banReason,
});

export const administration = userPart(Administration, {
  name: 'administration',
  commands: {
    lookUpUser,
    getBan,
    setBan,
    getFlags,
    setFlag,
    getRegistration,
    setRegistration,
  },
});
