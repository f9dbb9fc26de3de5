/** What became of a mail of which this actor wants to know: to the part of it that sent it. */
import { tell } from '../../runtime/command.ts';
import { User } from './contract.ts';
import { listeningPart } from './mail-listener.ts';
import { publishedMailOutcome } from './published-reminders/watch.ts';
import { reminderMailOutcome } from './reminders/send.ts';
import { switchMailOutcome } from './switches/watch.ts';

export const mailOutcomeTell = tell({
  ...User.tells.mailOutcome,
  turn: (turn, outcome) => {
    const { part, uuid, round } = listeningPart(outcome.key);
    if (part === 'switch') switchMailOutcome(turn, uuid, round, outcome);
    if (part === 'reminder') reminderMailOutcome(turn, uuid, round, outcome);
    if (part === 'published') publishedMailOutcome(turn, uuid, round, outcome);
  },
});
