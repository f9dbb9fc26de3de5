/** The threads that Node.js starts for hashes, calls of the file system and look-ups of names together. */
const poolThreads = 4;

/**
 * How many hashes a queue runs at once. One core is left for the event loop. More hashes than the pool has threads would be no
 * faster. They would wait in the pool, where calls of the file system queue behind them.
 */
export const hashesAtOnce = (cores: number): number => Math.max(1, Math.min(poolThreads, cores - 1));
