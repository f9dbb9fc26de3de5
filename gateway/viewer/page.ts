/**
 * The viewer's page of public shares: one document with its script and its style inside. Its policy names their
 * digests, so nothing else runs in it, whatever an encrypted text smuggles in. The page talks to this server alone.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { bundleName, bundleScript } from './bundle.ts';
import { markupOf, style } from './markup.ts';

export interface ViewerPage {
  readonly html: string;
  readonly policy: string;
}

let made: Promise<ViewerPage> | undefined;

/** Made once, on the first request. */
export function viewerPage(): Promise<ViewerPage> {
  made ??= make().catch((error) => {
    made = undefined;
    throw error;
  });
  return made;
}

async function make(): Promise<ViewerPage> {
  const script = await scriptText();
  return { html: markupOf(script), policy: policyOf(script) };
}

const isBuilt = import.meta.url.endsWith('.js');

const scriptText = (): Promise<string> =>
  isBuilt ? readFile(new URL(`./${bundleName}`, import.meta.url), 'utf8') : bundleScript();

const policyOf = (script: string): string =>
  [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // Throws if a text would turn into markup.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

const digestOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
