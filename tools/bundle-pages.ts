/** `npm run build`: puts the scripts of pages where the built server looks for them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleName, bundleScript, pageNames } from '../gateway/pages/bundle.ts';

const [builtIn = 'dist'] = process.argv.slice(2);
const folder = join(builtIn, 'gateway', 'pages');
mkdirSync(folder, { recursive: true });
for (const page of pageNames) writeFileSync(join(folder, bundleName(page)), await bundleScript(page));
