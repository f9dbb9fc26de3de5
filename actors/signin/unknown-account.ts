import type { Workflow } from '../../runtime/command.ts';

/**
 * Takes as many turns as the user's actor takes for an account. An unknown address has no such actor, and to activate one would
 * take a statement. Without these turns its answer would come sooner, and tell that there is no account.
 */
export async function takeTurnsOfUser(workflow: Workflow, turns: number): Promise<void> {
  for (let taken = 0; taken < turns; taken += 1) await workflow.turn({ turn: () => undefined });
}
