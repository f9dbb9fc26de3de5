/** `npm run docs`: writes the documentation that is generated from declarations. */
import { writeFileSync } from 'node:fs';
import { document } from '../config/document.ts';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), document());
