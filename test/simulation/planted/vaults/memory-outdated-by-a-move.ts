/**
 * The move as one commit with two fences, which docs/decisions/0055-a-move-takes-three-commits.md decides against. The target's
 * commit also applies to the actor of the source: it leaves the forwarding tombstone, writes the head, and raises the version,
 * so that the source's next commit is fenced and the source loads its state anew. Here nobody makes it commit.
 */
import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'memory-outdated-by-a-move',
  why: 'A source that has committed nothing since answers from memory what another actor has changed.',
  flavour: 'vaults',
  from: 15,
  edits: [
    // Harmless, where a note and a timer make the source finalize.
    {
      file: 'actors/user/items/save-across-collections.ts',
      find: '  await finalizeAt(context, from, id, applied);\n',
      replace: '  if (applied.length === 0) await finalizeAt(context, from, id, applied);\n',
    },
    // There is no note.
    {
      file: 'actors/collection/transfer.ts',
      find: '  keepNote(turn, { map: outgoingTransferMap, timer }, { id, note });\n',
      replace: '',
    },
    // A caller that does not give up has the source commit something. If its memory is outdated, that is fenced.
    {
      file: 'actors/collection/transfer.ts',
      find: '  if (transfer === undefined) return [];\n',
      replace: '  if (transfer === undefined) {\n    turn.set(head, turn.get(head));\n    return [];\n  }\n',
    },
    // The history, which the source would have to write too, is left out.
    { file: 'actors/collection/saved-row.ts', find: "new Set(['Note', 'SN|File'])", replace: 'new Set([])' },
    // A barrier finds the other actor's commit.
    {
      file: 'runtime/actor/actor.ts',
      find: '    this.#version = settlement.version;\n',
      replace: `    const wasCommitted = settlement.became === 'committed';
    if (settlement.version !== this.#version + (wasCommitted ? 2 : 1))
      return this.#lostToNewer(flight.pending, wasCommitted);
    this.#version = settlement.version;
`,
    },
    {
      file: 'test/simulation/database.ts',
      find: "import { startOfTimeMs } from './process.ts';\n",
      replace: `import { startOfTimeMs } from './process.ts';
import { headAfterWrite } from '../../actors/collection/head.ts';
import { forwardingTombstoneOf, item } from '../../actors/collection/item.ts';
import { addressKey } from '../../runtime/address.ts';
import { decode, encode } from '../../runtime/store/encoding.ts';
import { sliceTable } from '../../runtime/store/tables.ts';
`,
    },
    {
      file: 'test/simulation/database.ts',
      find: `    const passed = super.commit(commits);
    for (const index of passed) {
      const commit = commits[index];
      if (commit !== undefined) this.#watcher.committed(commit);
    }
    return passed;
  }
`,
      replace: `    const taken = new Set(commits.map(({ address }) => addressKey(address)));
    const passing = commits
      .map((commit, index) => ({ commit, index, sources: this.#sourcesOf(commit) }))
      .filter(({ commit, sources }) => {
        const row = this.head(commit.address);
        const isFenced = row?.epoch !== commit.epoch || row.version !== commit.version;
        if (isFenced || sources.some((each) => each === undefined || taken.has(addressKey(each.address)))) return false;
        for (const { address } of sources) taken.add(addressKey(address));
        return true;
      });
    const all = passing.flatMap(({ commit, sources }) => [commit, ...sources]);
    super.commit(all);
    for (const commit of all) this.#watcher.committed(commit);
    return new Set(passing.map(({ index }) => index));
  }

  /** What this commit writes at the sources of items that it applies. Undefined for a source that no longer has the item. */
  #sourcesOf({ address, writes }) {
    const leaving = new Map();
    for (const { table, put } of writes) {
      if (table !== item || put === undefined || put.hop === null || put.moved_to !== null) continue;
      const { uuid, hop } = put;
      const found = [['uuid'], ['uuid', 'born']].flatMap(
        (unique) => this.read({ read: 'lookup', table, unique, values: [{ uuid, born: true }], limit: 100 }).rows,
      );
      if (found.some((row) => row.collection === address.id && row.hop === hop)) continue;
      const source = found.find(
        (row) => row.collection !== address.id && row.moved_to === null && (row.hop ?? 0) === hop - 1,
      );
      const of = source?.collection;
      leaving.set(of, [...(leaving.get(of) ?? []), source]);
    }
    return [...leaving].map(([id, rows]) => id && this.#sourceCommit(id, rows, address.id));
  }

  #sourceCommit(id, rows, to) {
    const address = { kind: this.head({ kind: 'vault', id }) === undefined ? 'user' : 'vault', id };
    const { epoch, version, commitId } = this.head(address);
    let head = decode(this.slices(address).find(({ slice }) => slice === 'items').data, 255);
    const tombstones = rows.map((row) => {
      const put = forwardingTombstoneOf(row, to, head.position + 1);
      head = headAfterWrite(head, put, row);
      return { table: item, put, isNew: false };
    });
    const slice = { ...address, slice: 'items', data: encode(1, head) };
    const writes = [...tombstones, { table: sliceTable, put: slice, isNew: false }];
    return { address, epoch, version, commitId, writes };
  }
`,
    },
  ],
};
