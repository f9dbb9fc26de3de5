/**
 * `npm run docs`: writes the documentation that is generated from declarations. With names, it writes only those
 * pages: `npm run docs -- endpoints`. Each page loads its sources only when it is written, because the chart's page
 * needs Go and others need most of the server.
 */
import { writeFileSync } from 'node:fs';

const pages: Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>> = {
  configuration: async () => ({
    'docs/configuration.md': (await import('../process/config/document.ts')).document(),
  }),
  metrics: async () => ({
    'docs/metrics.md': (await import('./metrics-document.ts')).metricsDocument(),
  }),
  endpoints: async () => ({
    'docs/endpoints.md': (await import('./endpoints-document.ts')).endpointsDocument(),
  }),
  amplification: async () => ({
    'docs/amplification.md': (await import('./amplification-document.ts')).amplificationDocument(),
  }),
  chart: async () => {
    const { chartReadme, chartSchema } = await import('./chart-documents.ts');
    return { 'helm/values.schema.json': chartSchema(), 'helm/README.md': chartReadme() };
  },
  dashboards: async () => {
    const { dashboards } = await import('./dashboards/definitions.ts');
    const { dashboardFile, dashboardText } = await import('./dashboards/grafana.ts');
    return Object.fromEntries(dashboards.map((each) => [dashboardFile(each), dashboardText(each)]));
  },
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(pages, name));
if (unknown.length > 0)
  throw new Error(`There is no page ${unknown.join(', ')}: name some of ${Object.keys(pages).join(', ')}.`);
for (const [name, make] of Object.entries(pages)) {
  if (named.length > 0 && !named.includes(name)) continue;
  for (const [file, text] of Object.entries(await make()))
    writeFileSync(new URL(`../${file}`, import.meta.url), text);
}
