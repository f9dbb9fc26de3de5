export default {
  files: ['{runtime,actors,gateway,operations,cli,config,process,test,tools}/**/*.test.ts', '*.test.ts'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  workerThreads: false,
  timeout: '10m',
};
