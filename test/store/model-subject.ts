import { ModelDatabase, ModelStore, type Schedule } from '../kit/model-store/model-store.ts';
import type { Flight, Subject } from './subject.ts';

const applied: Flight = { finish: async () => undefined };

const clock = { nowMs: () => 1_700_000_000_000 };

export async function modelSubject(database = new ModelDatabase(clock)): Promise<Subject> {
  return {
    store: new ModelStore(database),
    other: new ModelStore(database),
    impatient: new ModelStore(database),
    async lockHeld(address) {
      database.lock(address);
      return { finish: async () => database.unlock(address) };
    },
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
    async registrationInFlight(node, leaseMs) {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      let calls = 0;
      const schedule: Schedule = async (_method, apply) => {
        calls += 1;
        if (calls > 1) await released;
        return apply();
      };
      const registration = new ModelStore(database, schedule).register(node, leaseMs);
      return {
        finish() {
          release();
          return registration;
        },
      };
    },
    async untilBlocked(pending) {
      await pending.catch(() => undefined);
    },
    close: async () => undefined,
  };
}
