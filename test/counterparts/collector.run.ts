/** The OpenTelemetry Collector takes the traces of a cluster, and hands them on complete. */
import { spawn } from 'node:child_process';
import test from 'ava';
import { collectorProgram } from '../../tools/collector/collector.ts';
import { tracesSaves } from '../cluster/traced-save.ts';
import { startCollector } from '../kit/collector.ts';
import { freePorts } from '../kit/free-ports.ts';
import { until } from '../kit/until.ts';

test('the collector takes traces, and each of them is whole behind it', async (t) => {
  t.timeout(240_000);
  const behind = await startCollector();
  t.teardown(() => behind.stop());
  const [port] = await freePorts(1);
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { otlp_http: { endpoint: behind.url, encoding: 'json', compression: 'none' } },
    service: {
      pipelines: { traces: { receivers: ['otlp'], exporters: ['otlp_http'] } },
      telemetry: { metrics: { level: 'none' }, logs: { level: 'error' } },
    },
  };
  const program = spawn(collectorProgram, [`--config=yaml:${JSON.stringify(config)}`], { stdio: 'inherit' });
  t.teardown(() => program.kill());
  const endpoint = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(`${endpoint}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    }).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  await tracesSaves(t, behind, endpoint);
});
