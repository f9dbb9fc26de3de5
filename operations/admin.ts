/**
 * The admin port: Prometheus metrics and probes, separate from the public port so that it can be kept private.
 * `/livez` only says that the event loop turns, since restarting a process repairs no dependency.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Readiness } from '../runtime/readiness.ts';

export interface Admin {
  /** Resolves to the port taken. Rejects when it is not available. */
  listen(host: string, port: number): Promise<number>;
  close(): Promise<void>;
}

export function createAdmin(registry: Registry, readiness: Readiness): Admin {
  async function answer(path: string, response: ServerResponse): Promise<void> {
    switch (path) {
      case '/livez':
        return write(response, 200, 'text/plain', 'OK\n');
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

function write(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(body);
}
