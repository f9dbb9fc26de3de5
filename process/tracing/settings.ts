/** Settings of traces, by the standard names of OpenTelemetry: docs/tracing.md. */
import {
  apiAddress,
  choice,
  entriesOf,
  flag,
  type SettingsOf,
  secret,
  section,
  setting,
  text,
  WrongValue,
} from '../../runtime/setting.ts';

export const tracingSettings = section('Traces', {
  endpoint: apiAddress({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    defaultText: 'none: nothing is traced',
    description:
      'Where traces go: a collector that takes OTLP over HTTP, such as `http://localhost:4318`. The path `/v1/traces` is appended.',
  }),
  exporter: choice(['otlp', 'none'], {
    name: 'OTEL_TRACES_EXPORTER',
    default: 'otlp',
    description: '`none` traces nothing, whatever the other settings say.',
  }),
  isDisabled: flag({
    name: 'OTEL_SDK_DISABLED',
    default: false,
    description: 'Likewise.',
  }),
  sampler: choice(
    [
      ...(['parentbased_always_on', 'parentbased_traceidratio', 'parentbased_always_off'] as const),
      ...(['always_on', 'traceidratio', 'always_off'] as const),
    ],
    {
      name: 'OTEL_TRACES_SAMPLER',
      default: 'parentbased_always_on',
      description:
        'Which requests are traced. A request is traced on all nodes or on none, so the names with and without `parentbased_` mean the same.',
    },
  ),
  samplerRatio: setting(fraction, {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    bounds: '0 to 1',
    default: '1',
    description: 'The share of requests that `traceidratio` traces: `0.01` is one in a hundred.',
  }),
  serviceName: text({
    name: 'OTEL_SERVICE_NAME',
    default: 'scriptorium',
    description: 'The name of the service in traces. `NODE_ID` is the name of the instance.',
  }),
  resourceAttributes: setting(pairs, {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    bounds: '`name=value`, separated by commas',
    default: '',
    description:
      'More attributes of the process in traces, such as `deployment.environment.name=production`.',
  }),
});

export const tracingSecrets = secret(
  section('Traces', {
    tracingHeaders: text({
      name: 'OTEL_EXPORTER_OTLP_HEADERS',
      pattern: /^[^,=]+=[^,]*(,[^,=]+=[^,]*)*$/,
      form: '`name=value`, separated by commas',
      description: 'Headers for the collector, such as `authorization=Bearer%20…`.',
    }),
  }),
);

export interface TracingSettings extends SettingsOf<typeof tracingSettings> {}

/** @throws WrongValue */
function fraction(input: string): number {
  const value = /^[0-9.]+$/.test(input) ? Number(input) : Number.NaN;
  if (!(value >= 0 && value <= 1)) throw new WrongValue('is not a number from 0 to 1');
  return value;
}

/** Values are percent-encoded. @throws WrongValue */
export function pairs(input: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entriesOf(input).map((entry) => {
      const [name = '', ...value] = entry.split('=');
      if (name === '' || value.length === 0) throw new WrongValue('is not a list of name=value');
      return [name.trim(), decoded(value.join('=').trim())];
    }),
  );
}

/** @throws WrongValue */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new WrongValue('has a value that is not percent-encoded');
  }
}
