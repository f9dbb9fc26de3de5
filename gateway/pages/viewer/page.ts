/** The viewer's page of public shares. */
import { lazyPage } from '../document.ts';

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

const body = `<main>
<noscript><p>What was shared is encrypted, and is decrypted here in the browser: please allow scripts on this page.</p></noscript>
<p id="message" role="status" hidden></p>
<button id="open" type="button" hidden></button>
<div id="content" tabindex="-1"></div>
<footer>It was encrypted before it was shared, and is decrypted in your browser. The server cannot read it.</footer>
</main>`;

export const viewerPage = lazyPage('viewer', { title: 'Something shared with you', style, body });
