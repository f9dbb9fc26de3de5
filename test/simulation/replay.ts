/** The one command that replays a seed with a trace of what happened. */
export function replayCommand(seed: number, plant?: string): string {
  const planted = plant === undefined ? '' : ` --plant ${plant}`;
  return `node --import=tsx test/simulation/run.ts --seed ${seed}${planted}`;
}
