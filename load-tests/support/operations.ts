/** The operations of clients, each a tag of its requests, and how much longer than an idle sync it may take. */
export const operations = {
  'idle-sync': { times: 1 },
  edit: { times: 1 },
  'new-note': { times: 1 },
  'large-note': { times: 2 },
  'first-sync': { times: 4 },
  // The answer waits for a hash, and the number of concurrent hashes is limited.
  'login-params': { times: 1 },
  login: { times: 4 },
  logout: { times: 1 },
  'socket-token': { times: 1 },
  'catch-up': { times: 1 },
  'lane-ticket': { times: 1 },
  'lane-fallback': { times: 1 },
  'valet-token': { times: 1 },
  'open-upload': { times: 1 },
  'upload-chunk': { times: 4 },
  'close-upload': { times: 2 },
  'download-chunk': { times: 4 },
  'delete-file': { times: 2 },
} as const;

export type Operation = keyof typeof operations;
