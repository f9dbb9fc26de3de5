/** The command of load-tests/README.md without what goes before it: a build of the server that is started if there is none. */
export const unbuilt = { 'npm run load-test --': 'node --import=tsx load-tests/run.ts' };
