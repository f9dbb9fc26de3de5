/** A report for people: one self-contained page. The verdict comes first, and the report for machines is in it, too. */
import { chart, escapeText, type Line } from './chart.ts';
import { changeOf, comparable } from './compare.ts';
import { counted, observed } from './observed.ts';
import type { Percentiles, Report, Slice } from './report.ts';
import { style } from './style.ts';
import { failuresText, nameText, numberText, objectiveText, unreadText } from './text.ts';

/** Compared with a baseline, if there is one for the same scenario and size. */
export function page(report: Report, baseline?: Report): string {
  const before = comparable(report, baseline) ? baseline : undefined;
  const { run } = report;
  const title = `${nameText(run.scenario)}: ${report.verdict}`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeText(title)}</title><style>${style}</style></head>
<body><main>
${verdict(report, before)}
<h2>Answers</h2>
${operations(report, before)}
${timings(report, before)}
<h2>Over the run</h2>
<div class="charts">${charts(report, before)}</div>
<h2>The server meanwhile</h2>
${server(report, before)}
<h2>Objectives</h2>
${objectives(report)}
</main>
<script type="application/json" id="report">${JSON.stringify(report).replaceAll('<', '\\u003c')}</script>
</body>
</html>
`;
}

/** The report for machines inside a page; undefined if there is none. */
export function reportIn(html: string): Report | undefined {
  const [, text] = /<script type="application\/json" id="report">(.*)<\/script>/.exec(html) ?? [];
  return text === undefined ? undefined : JSON.parse(text);
}

function verdict(report: Report, baseline: Report | undefined): string {
  const { verdict: said, run, objectives: all } = report;
  const broken = all.filter(({ holds }) => !holds);
  const because =
    broken.length === 0
      ? `<p>All ${all.length} objectives hold.</p>`
      : `<p>${broken.length} of ${all.length} objectives are broken:</p><ul>${broken
          .map(
            (objective) =>
              `<li>${escapeText(objectiveText(objective))}: <b>${valueText(objective.value)}</b></li>`,
          )
          .join('')}</ul>`;
  const against =
    baseline === undefined
      ? 'There is no baseline of this run.'
      : `Beside it: the baseline of ${timeText(baseline.run.beganAt)}.`;
  return `<header class="${said}"><h1>${escapeText(nameText(run.scenario))} <strong>${said}</strong></h1>${because}
<p class="run">Profile ${escapeText(run.profile)}: ${numberText(run.perSecond)} per second${run.machines === 1 ? '' : ` as one of ${run.machines} machines`} for ${numberText(run.durationSeconds)} s, ${run.gateways} ${run.gateways === 1 ? 'gateway' : 'gateways'}, begun at ${timeText(run.beganAt)}. ${against}</p>${remarks(report)}</header>`;
}

const remarks = (report: Report): string =>
  [failuresText(report), unreadText(report)]
    .map((text) => (text === undefined ? '' : `<p class="bad">${escapeText(text)}</p>`))
    .join('');

const timeText = (iso: string): string => escapeText(iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'));

const valueText = (value: number | undefined): string =>
  value === undefined ? 'nothing measured' : numberText(value);

const percentileNames = ['p50', 'p90', 'p95', 'p99', 'max'] as const;

function operations(report: Report, baseline: Report | undefined): string {
  const rows = report.operations.map((row) => {
    const before = baseline?.operations.find(({ operation }) => operation === row.operation);
    const failed = row.failed > 0 ? `<td class="bad">${numberText(row.failed)}</td>` : '<td>0</td>';
    return `<tr><th>${escapeText(nameText(row.operation))}</th><td>${numberText(row.count)}</td><td>${numberText(row.perSecond)}</td>${failed}${percentiles(row, before)}</tr>`;
  });
  return table(
    ['operation', 'requests', 'per second', 'failed', ...percentileNames.map((name) => `${name}, ms`)],
    rows,
  );
}

function timings(report: Report, baseline: Report | undefined): string {
  if (report.timings.length === 0) return '';
  const rows = report.timings.map((row) => {
    const before = baseline?.timings.find(({ name }) => name === row.name);
    return `<tr><th>${escapeText(nameText(row.name))}</th><td>${numberText(row.count)}</td>${percentiles(row, before)}</tr>`;
  });
  return table(['whole', 'times', ...percentileNames.map((name) => `${name}, ms`)], rows);
}

const percentiles = (now: Percentiles, before: Percentiles | undefined): string =>
  percentileNames
    .map((name) => `<td>${numberText(now[name])}${change(now[name], before?.[name])}</td>`)
    .join('');

/** Empty unless the value is slower or faster by more than chance. */
function change(now: number, before: number | undefined): string {
  const changed = changeOf(now, before);
  if (changed === undefined) return '';
  return ` <small class="${changed.kind}">${changed.text}</small>`;
}

function charts(report: Report, baseline: Report | undefined): string {
  const { durationSeconds } = report.run;
  const { slices } = report;
  const drawn = (
    title: string,
    unit: string,
    of: readonly (readonly [string, (slice: Slice) => number | undefined])[],
  ) => {
    const [first] = of;
    const lines: Line[] = of.map(([name, value]) => ({ title: name, values: slices.map(value) }));
    if (baseline !== undefined && first !== undefined)
      lines.push({
        title: 'baseline',
        values: baseline.slices.map(first[1]),
        isFaint: true,
      });
    return lines.some(({ values }) => values.some((value) => value !== undefined))
      ? chart({ title, unit, lines, durationSeconds })
      : '';
  };
  return [
    drawn('requests', '/s', [['requests', ({ perSecond }) => perSecond]]),
    drawn('time of answers', 'ms', [
      ['p99', ({ p99 }) => p99],
      ['p50', ({ p50 }) => p50],
    ]),
    drawn('failed requests', '', [['failed', ({ failed }) => failed]]),
    ...report.timings.map(({ name }) =>
      drawn(`${nameText(name)}, p99`, 'ms', [['p99', ({ timings: of }) => of[name]]]),
    ),
    ...observed.map(({ name, title, unit }) => drawn(title, unit, [[title, ({ server: of }) => of[name]]])),
  ].join('\n');
}

function server(report: Report, baseline: Report | undefined): string {
  if (report.server.length === 0) return `<p>${whyNothingSeen(report)}</p>`;
  const beside = (cell: string): string => (baseline === undefined ? '' : cell);
  const rows = report.server.map((row) => {
    const of = observed.find(({ name }) => name === row.name);
    const was = baseline?.server.find(({ name }) => name === row.name);
    const cell = (value: number | undefined) => `<td>${value === undefined ? '' : numberText(value)}</td>`;
    return `<tr><th>${escapeText(of?.title ?? row.name)}${of?.unit ? ` <small>${escapeText(of.unit)}</small>` : ''}</th>${cell(row.before)}${cell(row.mean)}${cell(row.max)}${cell(row.after)}${beside(cell(was?.mean))}</tr>`;
  });
  const grown = counted.map(
    ({ name, title }) =>
      `<tr><th>${escapeText(title)}</th><td>${numberText(report.counted[name] ?? 0)}</td>${beside(`<td>${numberText(baseline?.counted[name] ?? 0)}</td>`)}</tr>`,
  );
  const heads = (names: readonly string[], ofBaseline: string) =>
    baseline === undefined ? names : [...names, ofBaseline];
  return `${table(heads(['seen', 'before', 'mean', 'most', 'after'], 'mean of the baseline'), rows)}
${table(heads(['counted', 'during the run'], 'of the baseline'), grown)}`;
}

function whyNothingSeen({ run, metrics }: Report): string {
  if (run.nodes === 0) return 'The run did not request its metrics (<code>--metrics-url</code>).';
  // The one VU that scrapes is in one of the segments.
  if (metrics.scrapes === 0) return 'Another machine of this run read its metrics.';
  return 'Its metrics could not be read.';
}

const objectives = ({ objectives: all }: Report): string =>
  table(
    ['objective', 'measured', ''],
    all.map(
      (objective) =>
        `<tr><th>${escapeText(objectiveText(objective))}</th><td>${valueText(objective.value)}</td><td class="${objective.holds ? 'good' : 'bad'}">${objective.holds ? 'holds' : 'broken'}</td></tr>`,
    ),
  );

const table = (heads: readonly string[], rows: readonly string[]): string =>
  `<div class="wide"><table><thead><tr>${heads.map((head) => `<th>${escapeText(head)}</th>`).join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
