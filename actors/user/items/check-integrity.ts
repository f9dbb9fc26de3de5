/**
 * Which of the user's items differ from what the client says it has (docs/protocol/sync.md, "Integrity"), without
 * fetching ciphertext. Read a part at a time, so that a large account holds nobody up; an item that is saved meanwhile
 * moves to the end and is checked once more, and the last check counts.
 */
import { range } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { clientVersions, integrityColumns, type Mismatch, mismatchOf } from '../../collection/integrity.ts';
import { item } from '../../collection/item.ts';
import { departingHops } from '../../collection/move/departures.ts';
import { staying } from '../../collection/retrieve.ts';
import { User } from '../contract.ts';
import { type SignedInWorkflow, signedInWorkflow } from '../signed-in.ts';

const partItems = 10_000;

export const checkIntegrity = signedInWorkflow({
  ...User.commands.checkIntegrity,
  run: async (workflow, { integrityPayloads }) => {
    const client = clientVersions(integrityPayloads ?? []);
    const mismatches = new Map<string, Mismatch>();
    let after = 0;
    for (;;) {
      const { rows, complete, upTo } = await readPart(workflow, after);
      for (const row of rows) {
        const mismatch = mismatchOf(row, client);
        if (mismatch === undefined) mismatches.delete(row.uuid);
        else mismatches.set(row.uuid, mismatch);
      }
      if (complete) return { mismatches: [...mismatches.values()] };
      after = upTo;
    }
  },
});

function readPart(workflow: Pick<SignedInWorkflow<unknown>, 'turn'>, after: number) {
  return workflow.turn({
    reads: (view) => ({
      live: range(item, {
        after,
        through: view.get(head).position,
        limit: partItems,
        subset: 'live',
        columns: [...integrityColumns, 'hop'],
      }),
    }),
    turn: (turn, { live }) => ({ ...live, rows: staying(live.rows, departingHops(turn)) }),
  });
}
