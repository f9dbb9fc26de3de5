/** The command of load-tests/README.md without its first part, which builds the server if needed. */
export const unbuilt = { 'npm run load-test --': 'node --import=tsx load-tests/run.ts' };
