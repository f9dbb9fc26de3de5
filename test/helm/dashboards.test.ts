/** The chart gives Grafana's sidecar one ConfigMap for each dashboard, whose text Helm has not changed. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { dashboards } from '../../tools/dashboards/definitions.ts';
import { dashboardFile } from '../../tools/dashboards/grafana.ts';
import { cases } from './cases.ts';
import { render } from './chart.ts';

const root = new URL('../../', import.meta.url);

test('each dashboard is in a ConfigMap, as it is in its file', async (t) => {
  const manifests = await render(cases['small and open, with everything around it']);
  const maps = manifests.filter(({ metadata }) => metadata['labels']?.grafana_dashboard === '1');
  t.deepEqual(
    maps.map(({ metadata }) => metadata.name).sort(),
    dashboards.map(({ name }) => `notes-dashboard-${name}`).sort(),
  );
  for (const dashboard of dashboards) {
    const map = maps.find(({ metadata }) => metadata.name === `notes-dashboard-${dashboard.name}`);
    const text = readFileSync(new URL(dashboardFile(dashboard), root), 'utf8');
    t.deepEqual(map?.['data'], { [`${dashboard.name}.json`]: text });
    t.deepEqual(map?.metadata['annotations'], { grafana_folder: 'Scriptorium' });
  }
});

test('there is no dashboard unless it is asked for', async (t) => {
  const manifests = await render({ values: {}, presets: ['small'] });
  t.deepEqual(
    manifests.filter(({ metadata }) => metadata.name.includes('dashboard')),
    [],
  );
});
