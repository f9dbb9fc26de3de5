/**
 * `npm run build`: makes the programs of the embedded PostgreSQL ready in `node_modules`. Otherwise the first start does so. But
 * the user of a service may not write there.
 */
import { findBinaries } from '../process/postgres/binaries.ts';

await findBinaries().catch((error: Error) => {
  console.warn(
    `There is no embedded PostgreSQL for this machine, so DATABASE_URL is needed: ${error.message}`,
  );
});
