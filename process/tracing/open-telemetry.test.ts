import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import test from 'ava';
import { TerminalError } from '../../runtime/errors.ts';
import { inSpan } from '../../runtime/tracing.ts';
import { memoryLogger } from '../../test/kit/memory-logger.ts';
import { configurationFrom } from '../config/config.ts';
import { createTracer, openTelemetry, samplerOf } from './open-telemetry.ts';

function world(environment: Readonly<Record<string, string>> = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: samplerOf(configurationFrom(environment).config.tracing),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  return {
    tracer: createTracer(provider.getTracer('test')),
    finished: () => exporter.getFinishedSpans(),
  };
}

test('a share of the requests is traced, and the others have no span', (t) => {
  const { tracer } = world({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' });
  const spans = Array.from({ length: 400 }, () => tracer.request('GET /'));
  const traced = spans.filter((span) => span !== undefined).length;
  t.true(traced > 0 && traced < 400, `${traced} of 400`);
  t.is(world({ OTEL_TRACES_SAMPLER: 'always_off' }).tracer.request('GET /'), undefined);
});

test('the steps of a request are traced in every process, and a batch with links to its steps', (t) => {
  const here = world();
  const there = world({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
  const request = here.tracer.request('POST /v1/items');
  const step = request?.child('call user.sync');
  const served = there.tracer.continued(step?.traceparent ?? '', 'serve user.sync');
  const commit = served?.child('commit');
  const batch = there.tracer.batch('commit batch', commit === undefined ? [] : [commit]);
  for (const span of [batch, commit, served]) span?.end();
  const [batched, committed, continued] = there.finished();
  t.is(continued?.parentSpanContext?.spanId, step?.traceparent.split('-')[2]);
  t.is(committed?.parentSpanContext?.spanId, continued?.spanContext().spanId);
  t.is(batched?.links[0]?.context.spanId, committed?.spanContext().spanId);
  t.not(batched?.spanContext().traceId, committed?.spanContext().traceId);
});

test('a context that is not one is no step', (t) => {
  const { tracer } = world();
  const trace = 'a'.repeat(32);
  for (const text of ['', 'x', `00-${trace}-${'b'.repeat(16)}-00`, `01-${trace}-${'b'.repeat(16)}-01`])
    t.is(tracer.continued(text, 'serve user.sync'), undefined, text);
});

test('a failed step names the class of its error and not its message', async (t) => {
  const { tracer, finished } = world();
  const fails = () => Promise.reject(new TerminalError('of alice@example.org'));
  await t.throwsAsync(inSpan(tracer.request('GET /'), fails), { message: 'of alice@example.org' });
  const [span] = finished();
  t.is(span?.attributes['error.type'], 'TerminalError');
  t.notRegex(JSON.stringify([span?.attributes, span?.status, span?.events]), /alice/);
});

test('a reply has its status, and one that its client did not get whole is aborted', (t) => {
  const { tracer, finished } = world();
  for (const status of [200, 503, 0]) {
    const span = tracer.request('GET /');
    span?.replied(status);
    span?.end();
  }
  const [good, bad, aborted] = finished();
  t.is(good?.attributes['http.response.status_code'], 200);
  t.is(good?.status.code, 0);
  t.is(bad?.status.code, 2);
  t.is(aborted?.attributes['error.type'], 'aborted');
});

test('a collector that is away is logged, and delays the end for a bounded time only', async (t) => {
  const { logger } = memoryLogger();
  const { tracer, close } = openTelemetry({
    settings: configurationFrom({}).config.tracing,
    endpoint: 'http://127.0.0.1:9',
    headers: {},
    nodeId: 'a',
    version: '0',
    logger,
  });
  tracer.request('GET /')?.end();
  await t.notThrowsAsync(close(1));
});
