/** Bundles the script of the viewer's page, for the build, and for a server that runs from its sources. */
import { fileURLToPath } from 'node:url';

/** Beside the built `page.ts`. */
export const bundleName = 'script.js';

export async function bundleScript(): Promise<string> {
  // A built server does not have this package.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./browser/main.ts', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
