/** `npm run docs`: writes the documentation that is generated from declarations. */
import { writeFileSync } from 'node:fs';
import { document } from '../config/document.ts';
import { endpointsDocument } from './endpoints-document.ts';
import { metricsDocument } from './metrics-document.ts';

const write = (name: string, text: string) =>
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), text);

write('configuration.md', document());
write('metrics.md', metricsDocument());
write('endpoints.md', endpointsDocument());
