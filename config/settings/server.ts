import { address, choice, flag, integer, setting, text } from '../setting.ts';

const group = 'Server';

export const serverSettings = {
  HOST: setting({
    group,
    schema: text,
    default: '127.0.0.1',
    description: 'The address to listen on. `0.0.0.0` is every interface.',
  }),
  PORT: setting({
    group,
    schema: integer(0, 65_535),
    default: 3_000,
    description: 'The port to listen on. 0 takes a free one.',
  }),
  ADMIN_HOST: setting({
    group,
    schema: text,
    default: '127.0.0.1',
    description: 'The address of the admin port, which is not meant for the public.',
  }),
  ADMIN_PORT: setting({
    group,
    schema: integer(0, 65_535),
    default: 9_090,
    description: 'The port of metrics and probes (`/metrics`, `/livez`, `/readyz`). 0 takes a free one.',
  }),
  PUBLIC_URL: setting({
    group,
    schema: address,
    defaultText: '`http://` with `HOST` and `PORT`',
    description:
      'The address under which clients reach the server. With `https://`, the defaults of the cookies are those that work across sites.',
  }),
  FILES_SERVER_URL: setting({
    group,
    schema: address,
    defaultText: '`PUBLIC_URL` and `/files`',
    description: 'The address of the files server, told to clients with every answer.',
  }),
  LOG_LEVEL: setting({
    group,
    schema: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description:
      'How much is logged: `fatal`, `error`, `warn`, `info`, `debug` (with a line for every request), `trace` or `silent`.',
  }),
  DRAIN_TIMEOUT_MS: setting({
    group,
    schema: integer(0, 600_000),
    default: 10_000,
    unit: 'ms',
    description: 'How long requests in flight, and then commits, may each take to finish after a SIGTERM.',
  }),
  E2E_TESTING: setting({
    group,
    schema: flag,
    default: false,
    description:
      'For conformance runs: sessions are of header style for every API version, and no request rate is limited. Refused unless `HOST` is a loopback address.',
  }),
};
