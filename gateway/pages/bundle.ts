/** Bundles the scripts of pages, for the build, and for a server that runs from its sources. */
import { fileURLToPath } from 'node:url';

export const pageNames = ['viewer', 'administration'] as const;
export type PageName = (typeof pageNames)[number];

/** Beside the built `document.ts`. */
export const bundleName = (page: PageName): string => `${page}.script.js`;

export async function bundleScript(page: PageName): Promise<string> {
  // A built server does not have this package.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`./${page}/browser/main.ts`, import.meta.url))],
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
