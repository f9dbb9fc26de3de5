import type { Flavour } from './plan.ts';

/** The one command that replays a seed with a trace of its events. */
export function replayCommand(seed: number, flavour?: Flavour, plant?: string): string {
  const flavoured = flavour === undefined ? '' : ` --flavour ${flavour}`;
  const planted = plant === undefined ? '' : ` --plant ${plant}`;
  return `node --import=tsx test/simulation/run.ts --seed ${seed}${flavoured}${planted}`;
}
