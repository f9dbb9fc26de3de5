import test from 'ava';
import { Gauge, Histogram, Registry } from 'prom-client';
import { metricValuesOf } from './metric-values.ts';

test('a quantile is the bound of its bucket, over all labels', async (t) => {
  const registry = new Registry();
  const seconds = new Histogram({
    name: 'seconds',
    help: 'test',
    labelNames: ['route'],
    buckets: [0.1, 1, 10],
    registers: [registry],
  });
  t.is((await metricValuesOf(registry)).quantile('seconds', 0.5), undefined);
  for (let count = 0; count < 98; count++) seconds.observe({ route: `r${count % 3}` }, 0.05);
  seconds.observe({ route: 'r0' }, 5);
  seconds.observe({ route: 'r1' }, 50);
  const values = await metricValuesOf(registry);
  t.is(values.quantile('seconds', 0.5), 0.1);
  t.is(values.quantile('seconds', 0.99), 10);
  t.is(values.quantile('seconds', 1), Number.POSITIVE_INFINITY);
});

test('a sum is over all labels, and unknown where there is no such metric', async (t) => {
  const registry = new Registry();
  const mails = new Gauge({ name: 'mails', help: 'test', labelNames: ['state'], registers: [registry] });
  mails.set({ state: 'ready' }, 2);
  mails.set({ state: 'dead' }, 3);
  const values = await metricValuesOf(registry);
  t.is(values.sum('mails'), 5);
  t.is(values.sum('letters'), undefined);
});
