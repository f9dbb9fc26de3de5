import { simulate } from './world.ts';

/** The simulator over the sources as they are, or over a copy with a planted bug. */
export async function simulatorOf(name: string | undefined): Promise<typeof simulate> {
  if (name === undefined) return simulate;
  throw new Error(`no planted bug ${name}`);
}
