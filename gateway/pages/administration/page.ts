/** The page for administrators (docs/administration.md). */
import { lazyPage } from '../document.ts';

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; --line: #8886; --accent: #1a4fa0 }
@media (prefers-color-scheme: dark) { :root { --accent: #9dc1ff } }
body { margin: 0 }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; margin: 0 0 1rem }
h2 { font-size: 1.2rem; margin: 0 0 .5rem }
h3, h4 { font-size: 1rem; margin: 1.25rem 0 .5rem }
section { margin-bottom: 2rem; padding-top: 1rem; border-top: 1px solid var(--line) }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end }
label { display: grid; gap: .25rem; font-size: .9rem }
input { font: inherit; padding: .4rem .6rem; min-width: min(18rem, 80vw); border: 1px solid var(--line); border-radius: .35rem }
button {
  font: inherit; padding: .45rem .9rem; border-radius: .35rem; margin-right: .4rem;
  color: Canvas; background: var(--accent); border: 1px solid var(--accent); cursor: pointer;
}
button:disabled { opacity: .5; cursor: wait }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .9rem; width: 100% }
th, td { text-align: left; padding: .35rem .5rem; border-bottom: 1px solid var(--line) }
#message { padding: .6rem .9rem; border: 1px solid var(--accent); border-radius: .35rem }
[hidden] { display: none !important }
`;

const body = `<main>
<h1>Administration</h1>
<noscript><p>This page needs scripts, which derive the key of your account here in the browser.</p></noscript>
<p id="message" role="status" hidden></p>
<div id="content"></div>
</main>`;

export const administrationPage = lazyPage('administration', { title: 'Administration', style, body });
