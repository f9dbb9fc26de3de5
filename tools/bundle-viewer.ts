/** `npm run build`: puts the script of the viewer's page where the built server looks for it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleName, bundleScript } from '../gateway/viewer/bundle.ts';

const [builtIn = 'dist'] = process.argv.slice(2);
const folder = join(builtIn, 'gateway', 'viewer');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, bundleName), await bundleScript());
