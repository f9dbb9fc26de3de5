/** Open model: iterations begin when they are due, whether or not earlier ones have ended. */
import type { ConstantArrivalRateScenario, RampingArrivalRateScenario } from 'k6/options';
import { profile } from './environment.ts';

const { durationSeconds } = profile;
/** As long as a minute, because k6 takes only whole numbers and a rate may be below one per second. */
const timeUnitSeconds = 60;
const timeUnit = `${timeUnitSeconds}s`;
const rateOf = (perSecond: number): number => Math.max(1, Math.round(perSecond * timeUnitSeconds));

/** `seconds`: the longest time of an iteration while the server is healthy. */
const vus = (perSecond: number, seconds: number) => ({
  preAllocatedVUs: Math.ceil(Math.max(5, perSecond * seconds)),
  // A request may wait for its shard for as long as 25 s.
  maxVUs: Math.ceil(Math.max(20, perSecond * (25 + seconds))),
});

export type Arrivals = ConstantArrivalRateScenario | RampingArrivalRateScenario;

/** A constant rate. */
export const steadily = (exec: string, perSecond: number, seconds = 0.5): Arrivals => ({
  executor: 'constant-arrival-rate',
  exec,
  rate: rateOf(perSecond),
  timeUnit,
  duration: `${durationSeconds}s`,
  gracefulStop: '30s',
  ...vus(perSecond, seconds),
});

/**
 * A peak between two calm times: it starts at three tenths of the run, lasts three tenths, and rises and falls within
 * a second.
 */
export const peaking = (exec: string, calm: number, peak: number, seconds = 0.5): Arrivals => {
  const partSeconds = Math.max(1, Math.round(durationSeconds * 0.3));
  const stage = (stageSeconds: number, perSecond: number) => ({
    duration: `${stageSeconds}s`,
    target: rateOf(perSecond),
  });
  const last = Math.max(1, durationSeconds - 2 * partSeconds - 2);
  return {
    executor: 'ramping-arrival-rate',
    exec,
    startRate: rateOf(calm),
    timeUnit,
    stages: [
      stage(partSeconds, calm),
      stage(1, peak),
      stage(partSeconds, peak),
      stage(1, calm),
      stage(last, calm),
    ],
    gracefulStop: '30s',
    ...vus(peak, seconds),
  };
};
