import { createHash } from 'node:crypto';
import { html } from './html.ts';

/** Colours are never the only sign: the word beside them says the same. */
export const style = html`
:root { color-scheme: light dark; --good: #1a6b35; --bad: #b3261e; --line: #8885; }
@media (prefers-color-scheme: dark) { :root { --good: #6dd58c; --bad: #ffb4ab; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 0.3rem; }
p { margin: 0.3rem 0; }
ul { margin: 0.3rem 0; padding-left: 1.2rem; }
.checks { display: flex; flex-wrap: wrap; gap: 0 1.5rem; list-style: none; padding: 0; }
.scroll { overflow-x: auto; margin-bottom: 0.8rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; white-space: nowrap; }
summary { cursor: pointer; }
.good { color: var(--good); }
.bad { color: var(--bad); font-weight: 600; }
:focus-visible { outline: 3px solid; outline-offset: 2px; }
`;

const digest = createHash('sha256').update(style.text).digest('base64');

/** Only our own style. A text that broke out of its escape would still run nothing and load nothing. */
export const statusPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${digest}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
