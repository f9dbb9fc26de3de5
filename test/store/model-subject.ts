import { ModelDatabase, ModelStore } from '../../runtime/store/model.ts';
import type { Flight, Subject } from './subject.ts';

const applied: Flight = { finish: async () => undefined };

const clock = { nowMs: () => 1_700_000_000_000 };

export async function modelSubject(database = new ModelDatabase(clock)): Promise<Subject> {
  return {
    store: new ModelStore(database),
    other: new ModelStore(database),
    async commitInFlight(commit) {
      database.commit([commit]);
      return applied;
    },
    async barrierInFlight(address, epoch) {
      database.barrier(address, epoch);
      return applied;
    },
    async claimInFlight(nodeId, incarnation, shards) {
      database.claim(nodeId, incarnation, shards);
      return applied;
    },
    async untilBlocked(pending) {
      await pending.catch(() => undefined);
    },
    close: async () => undefined,
  };
}
