/** `npm run docs`: writes the documentation that is generated from declarations. */
import { writeFileSync } from 'node:fs';
import { document } from '../config/document.ts';
import { amplificationDocument } from './amplification-document.ts';
import { chartReadme, chartSchema } from './chart-documents.ts';
import { endpointsDocument } from './endpoints-document.ts';
import { metricsDocument } from './metrics-document.ts';

const write = (name: string, text: string) => writeFileSync(new URL(`../${name}`, import.meta.url), text);

write('docs/configuration.md', document());
write('docs/metrics.md', metricsDocument());
write('docs/endpoints.md', endpointsDocument());
write('docs/amplification.md', amplificationDocument());
write('helm/values.schema.json', chartSchema());
write('helm/README.md', chartReadme());
