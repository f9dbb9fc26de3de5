import type { Program } from './program.ts';

/** Common reverse proxies, for the tests of the guide and of a web app beside the server. */
export const nginx: Program = {
  name: 'nginx',
  variable: 'NGINX_PATH',
  commands: ['nginx'],
  package: 'nginx',
};
export const caddy: Program = {
  name: 'Caddy',
  variable: 'CADDY_PATH',
  commands: ['caddy'],
  package: 'caddy',
};
export const haproxy: Program = {
  name: 'HAProxy',
  variable: 'HAPROXY_PATH',
  commands: ['haproxy'],
  package: 'haproxy',
};
