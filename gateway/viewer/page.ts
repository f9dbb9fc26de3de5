/**
 * The viewer's page of public shares: one document with its script and its style inside. Its policy names their
 * digests, so nothing else runs in it, whatever an encrypted text smuggles in. The page talks to this server alone.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { bundleName, bundleScript } from './bundle.ts';

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

/** The markup of the viewer's page before its script has run. */
const style = `
:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; --line: #8886; --accent: #1a4fa0 }
@media (prefers-color-scheme: dark) { :root { --accent: #9dc1ff } }
body { margin: 0 }
main { max-width: 42rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .5rem }
article + article, h1 + article { margin-top: 2rem; padding-top: 1.5rem; border-top: 1px solid var(--line) }
#content div { white-space: pre-wrap }
#content p, #content ul, #content ol, #content pre { margin: 0 0 .75rem }
#content a { color: var(--accent) }
#content td { border: 1px solid var(--line); padding: .25rem .5rem }
#content blockquote { margin: 0 0 .75rem; padding-left: 1rem; border-left: 3px solid var(--line) }
#content:focus { outline: none }
button {
  font: inherit; font-weight: 600; min-height: 3rem; padding: 0 1.75rem; border-radius: .5rem;
  color: Canvas; background: var(--accent); border: 0; cursor: pointer;
}
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
[hidden] { display: none }
footer { margin-top: 3rem; font-size: .85rem; opacity: .75 }
`;

const markupOf = (script: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Something shared with you</title>
<style>${style}</style>
<main>
<noscript><p>What was shared is encrypted, and is decrypted here in the browser: please allow scripts on this page.</p></noscript>
<p id="message" role="status" hidden></p>
<button id="open" type="button" hidden></button>
<div id="content" tabindex="-1"></div>
<footer>It was encrypted before it was shared, and is decrypted in your browser. The server cannot read it.</footer>
</main>
<script>${script}</script>
</html>
`;
