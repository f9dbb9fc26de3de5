/** The tests beside the sources that need nothing but Node: no database, no broker, no browser. */
import all from './ava.config.js';

export default {
  ...all,
  files: [
    '{runtime,actors,gateway,operations,cli,process,benchmarks}/**/*.test.ts',
    '!runtime/store/contract*.test.ts',
    '!runtime/store/postgres/**',
    '!runtime/transport/nats/**',
    '!process/lost-commits.test.ts',
    '!process/reshard.test.ts',
  ],
};
