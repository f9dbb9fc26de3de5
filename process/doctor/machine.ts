/** What the machine gives the server: file descriptors and room on its disks. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { connectionsWithin } from '../descriptors.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const gibibyte = 2 ** 30;
/** PostgreSQL stops for good on a full disk, and an upload needs room before it is refused for want of it. */
const freeBytesMin = gibibyte;
const freeShareMin = 0.1;

export function checkDescriptors(connectionsMax: number, limits?: string): Finding {
  const check = 'file descriptors';
  const possible = connectionsWithin(connectionsMax, limits);
  if (possible === connectionsMax) return ok(check, `They allow all ${connectionsMax} connections.`);
  return warning(
    check,
    `They allow ${possible} of the ${connectionsMax} connections of CONNECTIONS_MAX.`,
    'Raise the limit: `ulimit -n`, or LimitNOFILE= in the service.',
  );
}

/** `folder` may not exist yet: then it is on the disk of the nearest folder above that does. */
export async function checkDisk(what: string, folder: string): Promise<Finding> {
  const check = `disk of ${what}`;
  const { bavail, blocks, bsize } = await statfs(existing(resolve(folder)));
  const free = bavail * bsize;
  const found = `${(free / gibibyte).toFixed(1)} GiB are free, ${Math.round((bavail / blocks) * 100)} % of the disk.`;
  const remedy = 'Make room, or move it to a larger disk.';
  if (free < freeBytesMin) return problem(check, found, remedy);
  return bavail / blocks < freeShareMin ? warning(check, found, remedy) : ok(check, found);
}

function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder));
}
