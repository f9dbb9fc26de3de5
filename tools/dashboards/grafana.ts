/**
 * Builds Grafana dashboards (schema 39) from short declarations: rows of panels, each with its queries. Every query
 * reads the processes that the variables `job` and `instance` choose, so that one Prometheus may scrape several
 * installations.
 */

/** A label matcher for the chosen processes; every query contains it. */
export const chosen = 'job=~"$job",instance=~"$instance"';

export interface Query {
  readonly expr: string;
  /** The name of each series, with its labels as `{{label}}`. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** For the reader: the meaning of the panel, and what to do when it looks wrong. */
  readonly about: string;
  /** A unit of Grafana: `reqps`, `s`, `bytes`, `short`, `percentunit`. */
  readonly unit: string;
  /** One number instead of curves. */
  readonly isStat?: boolean;
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** The name of its file, and its address in Grafana. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

export const query = (expr: string, legend: string): Query => ({ expr, legend });

/** A counter's increase per second by these labels; 0 while the counter has not counted anything yet. */
export const rate = (counter: string, by: readonly string[] = [], where = ''): string =>
  `sum${by.length === 0 ? '' : ` by (${by.join(', ')})`} (rate(${counter}{${matchers(where)}}[$__rate_interval])) or vector(0)`;

/** A gauge summed over the chosen processes. */
export const sum = (gauge: string, by: readonly string[] = [], where = ''): string =>
  `sum${by.length === 0 ? '' : ` by (${by.join(', ')})`} (${gauge}{${matchers(where)}}) or vector(0)`;

export const max = (gauge: string, where = ''): string => `max(${gauge}{${matchers(where)}}) or vector(0)`;

/** Quantiles of a histogram, one query each. */
export const quantiles = (histogram: string, by: readonly string[] = [], where = ''): readonly Query[] =>
  [0.5, 0.99].map((quantile) =>
    query(
      `histogram_quantile(${quantile}, sum by (${['le', ...by].join(', ')}) (rate(${histogram}_bucket{${matchers(where)}}[$__rate_interval]))) or vector(0)`,
      [`p${quantile * 100}`, ...by.map((label) => `{{${label}}}`)].join(' '),
    ),
  );

function matchers(where: string): string {
  return where === '' ? chosen : `${chosen},${where}`;
}

const columns = 24;
const panelHeight = 8;
const statHeight = 4;

/** Where the chart and people find it, from the root of the project. */
export const dashboardFile = ({ name }: Dashboard): string => `helm/files/dashboards/${name}.json`;

export const dashboardText = (dashboard: Dashboard): string =>
  `${JSON.stringify(grafanaJson(dashboard), null, 1)}\n`;

/** The dashboard in Grafana's import format. */
function grafanaJson({ name, title, rows }: Dashboard): object {
  return {
    uid: `scriptorium-${name}`,
    title: `Scriptorium / ${title}`,
    tags: ['scriptorium'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    templating: { list: variables },
    links: [{ type: 'dashboards', title: 'Scriptorium', tags: ['scriptorium'], asDropdown: true }],
    panels: laidOut(rows),
  };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of Grafana
const datasource = { type: 'prometheus', uid: '${datasource}' };

const choiceOf = (label: string, where: string): object => ({
  name: label,
  label,
  type: 'query',
  datasource,
  query: { query: `label_values(scriptorium_build_info${where}, ${label})`, refId: label },
  refresh: 2,
  includeAll: true,
  allValue: '.*',
  multi: true,
  current: { text: ['All'], value: ['$__all'] },
});

const variables = [
  { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
  choiceOf('job', ''),
  choiceOf('instance', '{job=~"$job"}'),
];

function laidOut(rows: readonly Row[]): readonly object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      gridPos: { x: 0, y, w: columns, h: 1 },
      panels: [],
    });
    y += 1;
    const width = Math.floor(columns / Math.min(panels.length, 4));
    let x = 0;
    let height = 0;
    for (const panel of panels) {
      if (x + width > columns) {
        x = 0;
        y += height;
      }
      height = panel.isStat === true ? statHeight : panelHeight;
      placed.push({ id: placed.length + 1, gridPos: { x, y, w: width, h: height }, ...body(panel) });
      x += width;
    }
    y += height;
  }
  return placed;
}

function body({ title, about, unit, isStat, queries }: Panel): object {
  return {
    type: isStat === true ? 'stat' : 'timeseries',
    title,
    description: about,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
}
