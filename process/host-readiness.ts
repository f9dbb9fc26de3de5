/** Whether a gateway gets answers from the hosts. Without them it can serve no request. */
import { Instance, instanceId } from '../actors/instance/contract.ts';
import type { Actors } from '../runtime/handles.ts';
import type { ReadinessCheck } from '../runtime/readiness.ts';

/** Less than the time of a check. */
const deadlineMs = 1_500;

export const createHostCheck =
  (actors: Actors): ReadinessCheck =>
  () =>
    actors
      .get(Instance, instanceId)
      .ask.registration({}, { deadlineMs })
      .then(() => true);
