/** Opens what traces go to, if the settings name it. A process that traces nothing loads none of the libraries. */
import type { Tracer } from '../../runtime/tracing.ts';
import type { ServerOptions } from '../server-options.ts';
import { pairs } from './settings.ts';

/** How long sending what is left may take at the end. */
const closeMs = 2_000;

/** Closes with the lifetime. */
export async function openTracer({
  config,
  secrets,
  version,
  logger,
  lifetime,
}: ServerOptions): Promise<Tracer | undefined> {
  const { endpoint, exporter, isDisabled } = config.tracing;
  if (endpoint === undefined || exporter === 'none' || isDisabled) return undefined;
  const { openTelemetry } = await import('./open-telemetry.ts');
  const opened = openTelemetry({
    settings: config.tracing,
    endpoint,
    headers: pairs(secrets.tracingHeaders ?? ''),
    nodeId: config.nodeId,
    version,
    logger,
  });
  lifetime.onEnd(() => opened.close(closeMs));
  return opened.tracer;
}
