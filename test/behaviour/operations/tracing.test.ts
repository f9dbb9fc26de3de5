/** What is traced of a request within one process: docs/tracing.md. */
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import test, { type ExecutionContext } from 'ava';
import { createTracer } from '../../../process/tracing/open-telemetry.ts';
import { note } from '../../kit/items.ts';
import { type ServerOptions, startServer } from '../../kit/server.ts';

async function world(t: ExecutionContext, options: ServerOptions['host'] = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = createTracer(provider.getTracer('test'));
  const server = await startServer(t, { host: { ...options, tracer } });
  const tree = (root: ReadableSpan, depth = 0): readonly string[] => [
    `${'  '.repeat(depth)}${root.name}`,
    ...exporter
      .getFinishedSpans()
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === root.spanContext().spanId)
      .sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .flatMap((span) => tree(span, depth + 1)),
  ];
  const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
  return { server, exporter, named, tree };
}

test('a save is traced from its request to its commit, which is linked to its batch', async (t) => {
  const { server, named, tree } = await world(t);
  const device = await server.device();
  const item = note({ uuid: crypto.randomUUID() });
  const { saved_items } = await device.save(item);
  await server.restart();
  await device.save({
    ...item,
    content: 'edited',
    updated_at_timestamp: saved_items[0]?.updated_at_timestamp,
  });
  const request = named('POST /v1/items').at(-1);
  if (request === undefined) throw new Error('nothing was traced');
  t.deepEqual(tree(request), [
    'POST /v1/items',
    '  call user.sync',
    '    turn user.sync',
    '      reads',
    '      commit',
  ]);
  t.is(request.attributes['http.response.status_code'], 200);
  const commits = named('commit').filter(
    (span) => span.spanContext().traceId === request.spanContext().traceId,
  );
  const linked = named('commit batch').flatMap(({ links }) => links.map(({ context }) => context.spanId));
  for (const commit of commits) t.true(linked.includes(commit.spanContext().spanId));
});

test('a shared read is a step of its call', async (t) => {
  const { server, named, tree } = await world(t);
  const device = await server.device();
  await device.sync();
  await device.sync();
  const last = named('POST /v1/items').at(-1);
  t.deepEqual(last && tree(last), ['POST /v1/items', '  call user.sync', '    read user.sync']);
});

test('no span tells whom it is about', async (t) => {
  const { server, exporter } = await world(t);
  const device = await server.device();
  const item = note({ uuid: crypto.randomUUID(), content: '004:the-ciphertext' });
  await device.save(item);
  await device.call('GET', `/v2/items/${item.uuid}/revisions`);
  await device.call('GET', `/v1/items/${crypto.randomUUID()}`);
  const { account } = device;
  const text = JSON.stringify(
    exporter
      .getFinishedSpans()
      .map(({ name, attributes, events, status }) => [name, attributes, events, status]),
  );
  for (const value of [account.email, account.userUuid, account.access, String(item.uuid), 'the-ciphertext'])
    t.false(text.includes(value), value);
  t.true(text.includes('GET /v2/items/:itemUuid/revisions'));
});
