/**
 * Finds the items that differ from those that the client reports (docs/protocol/sync.md, "Integrity"), without reading ciphertext.
 * It looks first in the user's own collection, then at the user's items in vaults.
 *
 * One turn reads one part, so that other calls of a large account come in between. The search stops at as many mismatches as an
 * answer holds. An item that is saved meanwhile moves to the end, and only its last check counts.
 */
import { crossOwner, range } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import {
  clientVersions,
  integrityColumns,
  type Mismatch,
  mismatchesMax,
  mismatchOf,
} from '../../collection/integrity.ts';
import { type ItemRow, item } from '../../collection/item.ts';
import { staying } from '../../collection/retrieve.ts';
import { outgoingTransferVersions } from '../../collection/transfer.ts';
import { memberTable } from '../../vault/tables.ts';
import { type SignedInWorkflow, signedInWorkflow } from '../signed-in.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { Items } from './contract.ts';

const partItems = 10_000;

const columns = [...integrityColumns, 'hop', 'owner_uuid'] as const;

export const checkIntegrity = signedInWorkflow(
  Items.commands.checkIntegrity,
  async (workflow, { integrityPayloads }) => {
    const client = await clientVersions(integrityPayloads ?? []);
    const mismatches = new Map<string, Mismatch>();
    const check = (rows: readonly ItemRow[]) => {
      for (const row of rows) {
        const mismatch = mismatchOf(row, client);
        if (mismatch === undefined) mismatches.delete(row.uuid);
        else mismatches.set(row.uuid, mismatch);
      }
    };
    let own = await readPart(workflow, 0);
    check(own.rows);
    const isFull = () => mismatches.size >= mismatchesMax;
    while (!own.complete && !isFull()) {
      own = await readPart(workflow, own.upTo);
      check(own.rows);
    }
    const reached = new Map<string, number>();
    for (let isThrough = false; !isThrough && !isFull(); ) {
      const { rows, complete } = await readVaults(workflow, reached);
      check(rows);
      isThrough = complete;
    }
    return { mismatches: [...mismatches.values()].slice(0, mismatchesMax) };
  },
);

type ItemReader = Pick<SignedInWorkflow<unknown>, 'turn'>;

function readPart(workflow: ItemReader, after: number) {
  return workflow.turn({
    reads: (view) => ({
      live: range(item, {
        after,
        through: view.get(head).position,
        limit: partItems,
        subset: 'live',
        columns,
      }),
    }),
    turn: (turn, { live }) => ({ ...live, rows: staying(live.rows, outgoingTransferVersions(turn)) }),
  });
}

/** What the user owns in their vaults. `reached` has the position in each vault where the next part begins. */
function readVaults(workflow: ItemReader, reached: Map<string, number>) {
  return workflow.turn({
    reads: (view) => ({
      live: crossOwner(item, {
        membership: { table: memberTable, member: view.self.id },
        owners: [...membershipsOf(view).keys()].map((owner) => ({
          owner,
          after: reached.get(owner) ?? 0,
          subset: 'live' as const,
        })),
        limit: partItems,
        columns,
      }),
    }),
    turn: (turn, { live }) => {
      for (const { owner, upTo } of live.owners) reached.set(owner, upTo);
      return {
        rows: live.owners.flatMap(({ rows }) => rows).filter((row) => row.owner_uuid === turn.self.id),
        complete: live.owners.every(({ complete }) => complete),
      };
    },
  });
}
