/** What became of a mail of which this actor wants to know: to the part of it that sent it. */
import { tell } from '../../runtime/command.ts';
import { Account } from './account/contract.ts';
import type { RaisedHooks } from './hooks.ts';
import { listeningPart } from './mail-listener.ts';

export const mailOutcomeTell = (hooks: RaisedHooks) =>
  tell({
    ...Account.tells.mailOutcome,
    turn: (turn, outcome) => {
      const { part, uuid, round } = listeningPart(outcome.key);
      for (const { listener, turn: noted } of hooks('mailOutcome')) {
        if (listener === part) noted(turn, uuid, round, outcome);
      }
    },
  });
