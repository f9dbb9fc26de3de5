/** The dead man's switches of an account (docs/protocol/delivery.md, "Dead man's switches"). */
import type { Turn, View } from '../../../runtime/command.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { noMailConfigured } from '../../mailer/outgoing.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { newestFirst } from '../../times.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import type { Session } from '../sessions/session.ts';
import { signedInRead, signedInTurn, signedInWorkflow } from '../signed-in.ts';
import { Switches, type SwitchResponse } from './contract.ts';
import { readSwitch } from './input.ts';
import {
  armed,
  checkedIn,
  contentsOf,
  type Switch,
  sealedContents,
  switchesMax,
  switchMap,
} from './switch.ts';
import {
  forgetSwitches,
  pauseSwitches,
  recallMails,
  removeSwitch,
  resumeSwitches,
  setSwitch,
  switchMailOutcome,
  warnAgain,
  watchSwitchesTimer,
} from './watch.ts';

const tooMany = refuse.conflict(
  `There are ${switchesMax} dead man's switches already. Delete one first.`,
  'dead-man-switch-limit',
);
const unknown = refuse.notFound("There is no such dead man's switch.", 'dead-man-switch-not-found');

const makeSwitch = signedInWorkflow(Switches.commands.makeSwitch, async (workflow, input) => {
  await workflow.turn({ turn: () => null });
  // The owner would rely on a switch that can send nothing.
  const noMail = await noMailConfigured(workflow.actors);
  if (noMail !== undefined) return noMail;
  return workflow.lastTurn({
    recorded: true,
    turn: (turn, _reads, { session }) => make(turn, input, session),
  });
});

function make(turn: Turn, input: Parameters<typeof readSwitch>[0], session: Session) {
  const parsed = readSwitch(input, turn.nowMs);
  if (typeof parsed === 'string') return refuse.badRequest(parsed, 'invalid-dead-man-switch');
  if (turn.entries(switchMap).size >= switchesMax) return tooMany;
  const { intervalDays, deadlineMs, recipient, shareUrl, message } = parsed;
  const uuid = turn.random.uuid();
  const made: Switch = {
    uuid,
    contents: sealedContents.seal(turn, uuid, { recipient, shareUrl, message }),
    intervalDays,
    createdAtMs: turn.nowMs,
    lastCheckInAtMs: null,
    round: 1,
    ...armed(turn.nowMs, deadlineMs),
  };
  setSwitch(turn, made);
  audit(turn, 'dead-man-switch-made', session, uuid);
  return { deadManSwitch: toResponse(turn, made) };
}

const listSwitches = signedInRead(Switches.commands.listSwitches, (view) => {
  const switches = newestFirst(view.entries(switchMap).values());
  return { deadManSwitches: switches.map((each) => toResponse(view, each)) };
});

const checkIn = signedInTurn(Switches.commands.checkIn, {
  // A late copy of the call does not prove that the user is there now. The deadline counts from the first copy.
  repeat: 'recorded',
  turn: (turn, { switchId }) => {
    const before = turn.entry(switchMap, switchId);
    if (before === undefined) return unknown;
    recallMails(turn, before);
    const after = checkedIn(before, turn.nowMs);
    setSwitch(turn, after);
    return { deadline: after.deadlineMs };
  },
});

const deleteSwitch = signedInTurn(
  Switches.commands.deleteSwitch,
  (turn, { switchId }, _reads, { session }) => {
    const before = turn.entry(switchMap, switchId);
    if (before === undefined) return unknown;
    removeSwitch(turn, before);
    audit(turn, 'dead-man-switch-deleted', session, switchId);
    return { message: 'Dead man switch deleted' };
  },
);

function toResponse(view: View, entry: Switch): SwitchResponse {
  const { recipient, message } = contentsOf(view, entry);
  return {
    uuid: entry.uuid,
    recipientEmail: recipient,
    message,
    intervalDays: entry.intervalDays,
    deadline: entry.deadlineMs,
    triggered: entry.state === 'sent',
    lastCheckInAt: entry.lastCheckInAtMs,
    createdAt: entry.createdAtMs,
    sendAttempts: entry.sendAttempts,
    nextAttemptAt: entry.nextAttemptAtMs,
    lastAttemptAt: entry.lastAttemptAtMs,
    outageGrace: view.use(AccountSettings).switchOutageGraceMs,
  };
}

export const switches = userPart(Switches, {
  name: 'switches',
  uses: [AccountSettings, UserSecrets],
  slices: [switchMap],
  commands: { makeSwitch, listSwitches, checkIn, deleteSwitch },
  timers: { watchSwitches: watchSwitchesTimer },
  on: {
    accountDeleted: forgetSwitches,
    banned: pauseSwitches,
    unbanned: resumeSwitches,
    credentialsChanged: (turn, { hasMoved }) => {
      if (hasMoved) warnAgain(turn);
    },
    mailOutcome: { listener: 'switch', turn: switchMailOutcome },
  },
});
