/**
 * A page of the server: one document with its script and its style inside. Its policy names their digests, so nothing
 * else runs in it, whatever a text smuggles in. The page talks to this server alone.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { bundleName, bundleScript, type PageName } from './bundle.ts';

export interface HtmlPage {
  readonly html: string;
  readonly policy: string;
}

/** The page before its script has run. */
export interface Markup {
  readonly title: string;
  readonly style: string;
  readonly body: string;
}

/** The function makes the page once, when it is first asked for. */
export function lazyPage(name: PageName, markup: Markup): () => Promise<HtmlPage> {
  let made: Promise<HtmlPage> | undefined;
  return () => {
    made ??= make(name, markup).catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

async function make(name: PageName, markup: Markup): Promise<HtmlPage> {
  const script = await scriptText(name);
  return { html: documentOf(markup, script), policy: policyOf(markup.style, script) };
}

const isBuilt = import.meta.url.endsWith('.js');

const scriptText = (name: PageName): Promise<string> =>
  isBuilt ? readFile(new URL(`./${bundleName(name)}`, import.meta.url), 'utf8') : bundleScript(name);

const policyOf = (style: string, script: string): string =>
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

const documentOf = ({ title, style, body }: Markup, script: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
${body}
<script>${script}</script>
</html>
`;
