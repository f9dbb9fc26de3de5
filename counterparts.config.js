/** The tests by programs of others that take long to be made: `npm run test:counterparts` makes them, and runs these. */
import all from './ava.config.js';

export default { ...all, files: ['test/counterparts/*.run.ts'] };
