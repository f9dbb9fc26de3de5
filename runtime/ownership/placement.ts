/**
 * Where each shard belongs: with the host whose hash together with the shard is the highest (rendezvous hashing). Every host
 * computes the same from the same set of hosts. A host that joins or leaves moves only the shards that it gets or had.
 */

/** With fewer shards per host, some hosts have several times as much to do as others, or nothing. */
export const shardsOfHostMin = 50;
/** Generous, because shards cost little, and changing their number requires stopping the cluster. */
const shardCountMin = 1_024;

/** The shard count of a new database that this many hosts may serve one day: a power of two. */
export function shardCountFor(hosts: number): number {
  return Math.max(shardCountMin, 2 ** Math.ceil(Math.log2(hosts * shardsOfHostMin)));
}

/** The host of each shard. Undefined if there is no host. */
export function placementOf(hosts: readonly string[], shardCount: number): readonly (string | undefined)[] {
  const seeds = hosts.map((id) => [id, hashOf(id)] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return Array.from({ length: shardCount }, (_, shard) => {
    let host: string | undefined;
    let highest = -1;
    for (const [id, seed] of seeds) {
      const weight = weightOf(seed, shard);
      if (weight <= highest) continue;
      highest = weight;
      host = id;
    }
    return host;
  });
}

/** Whether any of these shards belongs to another host than the one that has it. */
export function takesAny(host: string, from: string, shards: Iterable<number>): boolean {
  const [seed, fromSeed] = [hashOf(host), hashOf(from)];
  for (const shard of shards) if (weightOf(seed, shard) > weightOf(fromSeed, shard)) return true;
  return false;
}

const weightOf = (seed: number, shard: number): number => mixed(seed ^ Math.imul(shard + 1, 0x9e3779b1));

/** FNV-1a over the characters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

/** The finaliser of MurmurHash3: every bit of the input moves every bit of the result. */
function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
