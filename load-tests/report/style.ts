export const style = `
:root { color-scheme: light dark; --line: #2563a8; --second: #8a9bb0; --bad: #b3261e; --good: #1a7f37; --edge: #d5dae1; --page: #fff; --ink: #1c232b; --dim: #66717e; }
@media (prefers-color-scheme: dark) { :root { --line: #7fb4ee; --second: #93a3b5; --bad: #ff8a80; --good: #6fdd8b; --edge: #353d47; --page: #14181d; --ink: #e7ebf0; --dim: #9aa5b1; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 24px; box-sizing: border-box; }
h1 { margin: 0; font-size: 28px; text-transform: capitalize; }
h1 strong { text-transform: uppercase; }
h2 { margin: 32px 0 8px; font-size: 18px; }
header { border-left: 8px solid; padding: 4px 20px; }
header.passed { border-color: var(--good); }
header.failed { border-color: var(--bad); }
.passed h1 strong, .good { color: var(--good); }
.failed h1 strong, .bad { color: var(--bad); }
header p { margin: 4px 0; }
.run, small, .same { color: var(--dim); }
small.good { color: var(--good); }
small.bad { color: var(--bad); }
/* Narrow windows move a table, not the page. */
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 8px 0 16px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 10px; border-bottom: 1px solid var(--edge); text-align: right; font-weight: 400; white-space: nowrap; }
thead th { color: var(--dim); font-size: 13px; }
th:first-child { text-align: left; white-space: normal; min-width: 9em; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); gap: 12px 20px; }
figure { margin: 0; }
figcaption { font-size: 13px; }
svg { width: 100%; }
svg path { fill: none; stroke: var(--line); stroke-width: 1.8; stroke-linejoin: round; }
svg path.line-1 { stroke: var(--second); }
svg path.faint { stroke: var(--second); stroke-dasharray: 3 3; stroke-width: 1.2; }
.key-0 { color: var(--line); }
.key-1, .faint { color: var(--second); }
.grid line { stroke: var(--edge); }
.grid text { fill: var(--dim); font-size: 10px; }
`;
