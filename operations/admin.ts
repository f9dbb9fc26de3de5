/**
 * The admin port: Prometheus metrics, probes and a page for people, apart from the public port so that it can be kept private. A
 * request is refused if it names a host that is not ours. Otherwise a web page could point its own name here and read the answer.
 * `/livez` says only that the event loop turns, because a restart heals no dependency. The probes of the public port have the same
 * answers here, because a host has no public port.
 */
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { Registry } from 'prom-client';
import type { Readiness } from '../runtime/readiness.ts';
import { statusPagePolicy } from './status-page/style.ts';

export interface Admin {
  /** Resolves to the port in use. Rejects when it is not available. */
  listen(host: string, port: number): Promise<number>;
  close(): Promise<void>;
}

export interface AdminOptions {
  readonly registry: Registry;
  readonly readiness: Readiness;
  /** The accepted host names, besides `localhost` and addresses. */
  readonly names: readonly string[];
  /** The HTML of the page at `/`. */
  statusPage(): Promise<string>;
}

export function createAdmin({ registry, readiness, names, statusPage }: AdminOptions): Admin {
  const known = new Set(['localhost', ...names].map((name) => name.toLowerCase()));
  async function answer(path: string, response: ServerResponse): Promise<void> {
    switch (path) {
      case '/':
        response.setHeader('Content-Security-Policy', statusPagePolicy);
        return write(response, 200, 'text/html; charset=utf-8', await statusPage());
      case '/livez':
        return write(response, 200, 'text/plain', 'OK\n');
      case '/health':
      case '/healthcheck':
        return write(response, 200, 'text/plain', 'OK');
      case '/healthcheck/readiness': {
        const { ready, checks } = await readiness.report();
        const status = ready ? 'ready' : 'not_ready';
        return write(response, ready ? 200 : 503, 'application/json', JSON.stringify({ status, checks }));
      }
      case '/readyz': {
        const report = await readiness.report();
        return write(response, report.ready ? 200 : 503, 'application/json', JSON.stringify(report));
      }
      case '/metrics':
        return write(response, 200, registry.contentType, await registry.metrics());
      default:
        return write(response, 404, 'text/plain', 'Not found\n');
    }
  }

  const server = createServer((request, response) => {
    const host = hostOf(request.headers.host ?? '');
    // A request without a name is not from a browser.
    if (host !== '' && isIP(host) === 0 && !known.has(host)) {
      return write(
        response,
        421,
        'text/plain',
        'This is no name of the admin port: ADMIN_NAMES has those.\n',
      );
    }
    const [path = '/'] = (request.url ?? '/').split('?');
    answer(path, response).catch(() => write(response, 500, 'text/plain', 'Failed\n'));
  });

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve((server.address() as AddressInfo).port);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A `Host` without its port and brackets. */
const hostOf = (header: string): string =>
  header
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');

function write(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(body);
}
