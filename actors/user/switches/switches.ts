/** What clients do with dead man's switches (docs/protocol/delivery.md, "Dead man's switches"). */
import type { Turn, View } from '../../../runtime/command.ts';
import { noMailConfigured } from '../../mailer/outgoing.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { audit } from '../audit/trail.ts';
import type { Session } from '../sessions/session.ts';
import { signedInRead, signedInTurn, signedInWorkflow } from '../signed-in.ts';
import type { ShownSwitch } from './contract.ts';
import { Switches } from './contract.ts';
import { wantedSwitch } from './given.ts';
import { recallMails } from './mails.ts';
import { armed, checkedIn, contentsOf, type Switch, sealContents, switchesMax, switchMap } from './switch.ts';
import { removeSwitch, setSwitch } from './watch.ts';

const tooMany = refuse.conflict(
  `There are ${switchesMax} dead man's switches already. Delete one first.`,
  'dead-man-switch-limit',
);
const unknown = refuse.notFound("There is no such dead man's switch.", 'dead-man-switch-not-found');

const makeSwitch = signedInWorkflow({
  ...Switches.commands.makeSwitch,
  run: async (workflow, given) => {
    await workflow.turn({ turn: () => null });
    // Its owner would rely on a switch that can send nothing.
    const noMail = await noMailConfigured(workflow.actors);
    if (noMail !== undefined) return noMail;
    return workflow.lastTurn({
      recorded: true,
      turn: (turn, _reads, { session }) => make(turn, given, session),
    });
  },
});

function make(turn: Turn, given: Parameters<typeof wantedSwitch>[0], session: Session) {
  const wanted = wantedSwitch(given, turn.nowMs);
  if (typeof wanted === 'string') return refuse.badRequest(wanted, 'invalid-dead-man-switch');
  if (turn.entries(switchMap).size >= switchesMax) return tooMany;
  const { intervalDays, deadlineMs, recipient, shareUrl, message } = wanted;
  const uuid = turn.random.uuid();
  const made: Switch = {
    uuid,
    contents: sealContents(turn, uuid, { recipient, shareUrl, message }),
    intervalDays,
    createdAtMs: turn.nowMs,
    lastCheckInAtMs: null,
    round: 1,
    ...armed(turn.nowMs, deadlineMs),
  };
  setSwitch(turn, made);
  audit(turn, 'dead-man-switch-made', session, uuid);
  return { deadManSwitch: shown(turn, made) };
}

const listSwitches = signedInRead({
  ...Switches.commands.listSwitches,
  answer: (view) => {
    const newestFirst = [...view.entries(switchMap).values()].toSorted(
      (a, b) => b.createdAtMs - a.createdAtMs,
    );
    return { deadManSwitches: newestFirst.map((each) => shown(view, each)) };
  },
});

const checkIn = signedInTurn({
  ...Switches.commands.checkIn,
  // A copy of the call that comes late shows nobody's presence: the deadline counts from when the first came.
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

const deleteSwitch = signedInTurn({
  ...Switches.commands.deleteSwitch,
  turn: (turn, { switchId }, _reads, { session }) => {
    const before = turn.entry(switchMap, switchId);
    if (before === undefined) return unknown;
    removeSwitch(turn, before);
    audit(turn, 'dead-man-switch-deleted', session, switchId);
    return { message: 'Dead man switch deleted' };
  },
});

function shown(view: View, of: Switch): ShownSwitch {
  const { recipient, message } = contentsOf(view, of);
  return {
    uuid: of.uuid,
    recipientEmail: recipient,
    message,
    intervalDays: of.intervalDays,
    deadline: of.deadlineMs,
    triggered: of.state === 'sent',
    lastCheckInAt: of.lastCheckInAtMs,
    createdAt: of.createdAtMs,
    sendAttempts: of.sendAttempts,
    nextAttemptAt: of.nextAttemptAtMs,
    lastAttemptAt: of.lastAttemptAtMs,
    outageGrace: view.use(AccountSettings).switchOutageGraceMs,
  };
}

export const switchCommands = { makeSwitch, listSwitches, checkIn, deleteSwitch };
