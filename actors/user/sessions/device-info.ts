/**
 * The name of a device in the list of sessions: `<browser name version> on <os name version>` (docs/protocol/authentication.md,
 * "The list of sessions").
 */

type Pattern = readonly [name: string, pattern: RegExp];

/** The order counts: most agents also name browsers further down. */
const browsers: readonly Pattern[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+(?:\.\d+)*)/],
  ['Opera', /\b(?:OPR|Opera)\/(\d+(?:\.\d+)*)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+(?:\.\d+)*)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+(?:\.\d+)*)/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+(?:\.\d+)*)/],
  ['Safari', /\bVersion\/(\d+(?:\.\d+)*).* Safari\//],
];

const systems: readonly Pattern[] = [
  ['Android', /\bAndroid(?: (\d+(?:\.\d+)*))?/],
  ['iOS', /\b(?:iPhone|iPad|iPod)\b.*? OS (\d+(?:_\d+)*)/],
  ['Mac OS', /\bMac OS X(?: (\d+(?:[._]\d+)*))?/],
  ['Windows', /\bWindows NT (\d+(?:\.\d+)*)/],
  ['Chrome OS', /\bCrOS \S+ (\d+(?:\.\d+)*)/],
  ['Linux', /\bLinux\b/],
];

const desktopApp = /\bStandardNotes\/(\d+(?:\.\d+)*)/;

export function deviceInfo(userAgent: string | null): string {
  const agent = userAgent ?? '';
  const desktop = desktopApp.exec(agent);
  const browser = desktop ? `Standard Notes Desktop ${desktop[1]}` : firstMatch(browsers, agent);
  const system = agent.startsWith('okhttp') ? 'Android' : firstMatch(systems, agent);
  if (browser === undefined && system === undefined) return 'Unknown Client on Unknown OS';
  return [browser, system].filter((half) => half !== undefined).join(' on ');
}

function firstMatch(patterns: readonly Pattern[], agent: string): string | undefined {
  for (const [name, pattern] of patterns) {
    const match = pattern.exec(agent);
    if (match) return [name, match[1]?.replaceAll('_', '.')].filter(Boolean).join(' ');
  }
  return undefined;
}
