/**
 * Traces (`runtime/tracing.ts`) by OpenTelemetry, sent in batches to a collector by OTLP over HTTP.
 *
 * At most 2,048 spans wait. While the collector is away or slow, spans beyond these are dropped, and the log says so. Requests
 * never wait for it.
 */
import {
  type Context,
  type Link,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { sleep, systemClock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/ports.ts';
import type { Span, Tracer } from '../../runtime/tracing.ts';
import type { TracingSettings } from './settings.ts';

export interface OpenTelemetryOptions {
  readonly settings: TracingSettings;
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly nodeId: string;
  readonly version: string;
  readonly logger: Logger;
}

export interface OpenedTracer {
  readonly tracer: Tracer;
  /** Sends what is left, as far as that is possible within this time. */
  close(withinMs: number): Promise<void>;
}

export function openTelemetry(options: OpenTelemetryOptions): OpenedTracer {
  const { settings, endpoint, headers, nodeId, version } = options;
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: { ...headers } });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      ...settings.resourceAttributes,
      'service.name': settings.serviceName,
      'service.version': version,
      'service.instance.id': nodeId,
    }),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter: reporting(exporter, options.logger) })],
  });
  return {
    tracer: createTracer(provider.getTracer('scriptorium', version)),
    async close(withinMs) {
      await Promise.race([provider.shutdown().catch(() => {}), sleep(systemClock, withinMs)]);
    },
  };
}

export function createTracer(tracer: OtelTracer): Tracer {
  return {
    request(name) {
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, ROOT_CONTEXT);
      return span.isRecording() ? spanOf(tracer, span) : undefined;
    },
    continued(traceparent, name) {
      const context = contextOf(traceparent);
      if (context === undefined) return undefined;
      return spanOf(tracer, tracer.startSpan(name, {}, trace.setSpanContext(ROOT_CONTEXT, context)));
    },
    batch(name, steps) {
      const contexts = steps.flatMap((step) => contextOf(step.traceparent) ?? []);
      const links: Link[] = contexts.map((context) => ({ context }));
      return spanOf(tracer, tracer.startSpan(name, { links }, ROOT_CONTEXT));
    },
  };
}

function spanOf(tracer: OtelTracer, span: OtelSpan): Span {
  const { traceId, spanId } = span.spanContext();
  let context: Context | undefined;
  return {
    traceparent: `00-${traceId}-${spanId}-01`,
    child(name) {
      context ??= trace.setSpan(ROOT_CONTEXT, span);
      return spanOf(tracer, tracer.startSpan(name, {}, context));
    },
    replied(status) {
      if (status === 0) span.setAttribute('error.type', 'aborted');
      else span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    },
    failed(error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', error instanceof Error ? error.constructor.name : typeof error);
    },
    end: () => span.end(),
  };
}

/** Only steps of sampled requests are passed between processes. */
function contextOf(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** Decides about requests. Their steps follow them, and a batch is recorded for each of its steps. */
class RequestSampler implements Sampler {
  readonly #requests: Sampler;

  constructor(requests: Sampler) {
    this.#requests = requests;
  }

  shouldSample(...parameters: Parameters<Sampler['shouldSample']>): SamplingResult {
    const [context, , , , , links] = parameters;
    const isStep = links.length > 0 || trace.getSpanContext(context) !== undefined;
    return isStep
      ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
      : this.#requests.shouldSample(...parameters);
  }

  toString(): string {
    return `RequestSampler{${this.#requests}}`;
  }
}

/** Decides about requests, and records all steps of those that are traced. */
export const samplerOf = (settings: TracingSettings): Sampler =>
  new RequestSampler(requestsSampler(settings));

function requestsSampler({ sampler, samplerRatio }: TracingSettings): Sampler {
  if (sampler.endsWith('always_on')) return new AlwaysOnSampler();
  if (sampler.endsWith('always_off')) return new AlwaysOffSampler();
  return new TraceIdRatioBasedSampler(samplerRatio);
}

/** Logs failures, one in some seconds at most. The collector's answer is not logged. */
function reporting(exporter: SpanExporter, logger: Logger): SpanExporter {
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) {
          const fields = { spans: spans.length, error: result.error.name };
          logger.warn(fields, 'spans could not be sent to the collector');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
