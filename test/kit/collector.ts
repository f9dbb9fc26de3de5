/** A collector of traces: takes OTLP as JSON over HTTP, and keeps the spans. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly status: { readonly code?: number };
  /** The node that sent it. */
  readonly node: string;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, 'node'>[] }[];
  }[];
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that was received, as text. */
  readonly received: string;
  /** The headers of the last export. */
  readonly headers: IncomingMessage['headers'];
  /** A trace as lines, a step indented below the one that it belongs to, each with its node. */
  tree(root: CollectedSpan): readonly string[];
  stop(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let received = '';
  let headers: IncomingMessage['headers'] = {};
  const server = createServer(async (request, response) => {
    const exported = (await json(request)) as Export;
    headers = request.headers;
    received += JSON.stringify(exported);
    for (const { resource, scopeSpans } of exported.resourceSpans) {
      const instance = resource.attributes.find(({ key }) => key === 'service.instance.id');
      const node = instance?.value.stringValue ?? '';
      for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, node })));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tree = (root: CollectedSpan, depth = 0): readonly string[] => [
    `${'  '.repeat(depth)}${root.name} @${root.node}`,
    ...spans
      .filter(({ parentSpanId }) => parentSpanId === root.spanId)
      .flatMap((span) => tree(span, depth + 1)),
  ];
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    tree: (root) => tree(root),
    get received() {
      return received;
    },
    get headers() {
      return headers;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
