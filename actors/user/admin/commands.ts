/**
 * What administrators do for users (docs/protocol/account.md, "Administration"): each asks the own actor, which decides
 * whether its account is an administrator's, and asks the other one's.
 */
import { lookup } from '../../../runtime/command.ts';
import { isUuid } from '../../collection/incoming.ts';
import { accountTable, addressKey } from '../../identity/account-table.ts';
import { normaliseUsername, normaliseWorkspace } from '../../identity/usernames.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { markBanning, unmarkBanning } from '../account/set-ban.ts';
import { audit } from '../audit/trail.ts';
import { User } from '../contract.ts';
import { isoTime } from '../iso-time.ts';
import { UserAdministration } from '../operator-contract.ts';
import { adminRequired, isAdministrator } from '../rank.ts';
import { type SignedInWorkflow, signedInWorkflow } from '../signed-in.ts';
import { unlessAbsent } from '../unless-absent.ts';
import { allowsFlagValue, flagNames } from './flags.ts';

const userNotFound = refuse(404, 'There is no such user.', 'user-not-found');
const oneself = refuse(400, 'You cannot ban yourself.');
const busy = refuse(409, 'This administrator is banning somebody. Please try again in two minutes.');
const unknownFlag = refuse(400, 'There is no flag of this name.');
const wrongValue = refuse(400, 'This flag cannot have this value.');

type Steps = Pick<SignedInWorkflow<unknown>, 'turn' | 'actors' | 'use'>;
interface Named {
  readonly email: string;
  readonly workspace_identifier?: string | null | undefined;
}

const lookUpUser = signedInWorkflow({
  ...User.commands.lookUpUser,
  run: async (workflow, asked) => {
    const uuid = await find(workflow, asked);
    return uuid === undefined ? userNotFound : { uuid };
  },
});

const getBan = signedInWorkflow({
  ...User.commands.getBan,
  run: async (workflow, asked) => {
    const uuid = await find(workflow, asked);
    if (uuid === undefined) return userNotFound;
    const status = await unlessAbsent(operated(workflow, uuid).operatorBanStatus({}));
    return status === undefined ? userNotFound : { uuid, email: status.email, ...shown(status) };
  },
});

const setBan = signedInWorkflow({
  ...User.commands.setBan,
  run: async (workflow, { userUuid, banned, banReason }) => {
    const uuid = userUuid.toLowerCase();
    await workflow.turn({
      turn: (turn) => {
        if (!isAdministrator(turn)) return adminRequired;
        if (banned && uuid === turn.self.id) return oneself;
        if (banned) markBanning(turn);
        return {};
      },
    });
    const asked = { banned, reason: banReason ?? null, by: 'administrator' as const };
    const answer = isUuid(uuid)
      ? await unlessAbsent(operated(workflow, uuid).operatorSetBan(asked))
      : undefined;
    return workflow.lastTurn({
      turn: (turn) => {
        unmarkBanning(turn);
        if (answer === undefined) return userNotFound;
        if (answer.outcome === 'busy') return busy;
        if (answer.outcome === 'set') audit(turn, banned ? 'banned-another' : 'unbanned-another', null, uuid);
        return { success: true, uuid, ...shown(answer.status) };
      },
    });
  },
});

const getFlags = signedInWorkflow({
  ...User.commands.getFlags,
  run: async (workflow, { userUuid }) => {
    const uuid = await asAdministrator(workflow, userUuid);
    const found = await unlessAbsent(operated(workflow, uuid).operatorFlags({}));
    return found === undefined ? userNotFound : { userUuid: uuid, ...found };
  },
});

const setFlag = signedInWorkflow({
  ...User.commands.setFlag,
  run: async (workflow, { userUuid, name: given, value }) => {
    const uuid = await asAdministrator(workflow, userUuid);
    const name = flagNames.find((each) => each === given.toUpperCase());
    if (name === undefined) return unknownFlag;
    if (!allowsFlagValue(name, value)) return wrongValue;
    const done = await unlessAbsent(operated(workflow, uuid).operatorSetFlag({ name, value }));
    if (done === undefined) return userNotFound;
    return workflow.lastTurn({
      turn: (turn) => {
        audit(turn, 'changed-flag-of-another', null, uuid);
        return { success: true, userUuid: uuid, name, value };
      },
    });
  },
});

/** The uuid that an administrator named. What is none is nobody's. */
function asAdministrator(workflow: Steps, given: string): Promise<string> {
  const uuid = given.toLowerCase();
  return workflow.turn({
    turn: (turn) => {
      if (!isAdministrator(turn)) return adminRequired;
      return isUuid(uuid) ? uuid : userNotFound;
    },
  });
}

function find(workflow: Steps, { email, workspace_identifier }: Named): Promise<string | undefined> {
  const { workspacesPerEmail } = workflow.use(AccountSettings);
  const address = {
    email: normaliseUsername(email),
    workspace: normaliseWorkspace(workspace_identifier, workspacesPerEmail),
  };
  return workflow.turn({
    reads: () => ({ account: lookup(accountTable, [addressKey(address)]) }),
    turn: (turn, { account }) => (isAdministrator(turn) ? account.rows[0]?.user_uuid : adminRequired),
  });
}

const operated = (workflow: Steps, userUuid: string) => workflow.actors.get(UserAdministration, userUuid).ask;

interface Status {
  readonly banned: boolean;
  readonly bannedAtMs: number | null;
  readonly banReason: string | null;
}

const shown = ({ banned, bannedAtMs, banReason }: Status) => ({
  banned,
  bannedAt: bannedAtMs === null ? null : isoTime(bannedAtMs),
  banReason,
});

export const adminCommands = { lookUpUser, getBan, setBan, getFlags, setFlag };
