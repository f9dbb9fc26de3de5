/** Names keep to the words of the glossary (docs/architecture.md, "Words"). */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { retiredWords } from './kit/retired-words.ts';

const root = new URL('..', import.meta.url).pathname;
const skipped = /(^|\/)(node_modules|dist|\.\w+|generated)\//;
const thisTable = /^test\/(words\.test|retired-words)\.ts$/;

interface Name {
  readonly name: string;
  readonly line: number;
}

const codeToken =
  /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(?<=[=(,:[!&|?{};>]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*|[\w$]+|[`{}]|[\s\S]/y;
const templateText = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y;

/** Every identifier of a source, outside of its comments, strings and regular expressions. */
function* identifiersOf(source: string): Generator<Name> {
  /** What encloses the place: templates, and braces within them. */
  const open: string[] = [];
  let line = 1;
  for (let at = 0; at < source.length; ) {
    const isText = open.at(-1) === '`';
    const pattern = isText ? templateText : codeToken;
    pattern.lastIndex = at;
    const [token = ''] = pattern.exec(source) ?? [];
    if (isText) {
      if (token.endsWith('${')) open.push('{');
      else open.pop();
    } else if (token === '`' || token === '{') open.push(token);
    else if (token === '}') open.pop();
    else if (/^[A-Za-z_$][\w$]*$/.test(token)) yield { name: token, line };
    line += token.split('\n').length - 1;
    at += Math.max(1, token.length);
  }
}

/** `flowsUnderWay`, `flows-under-way` and `FLOWS_UNDER_WAY` are "flows under way". */
const spaced = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();

/** The word to use instead of one in this name, if there is one. */
function replacementOf(name: string, file: string): string | undefined {
  const words = spaced(name);
  return retiredWords.find(({ was, in: within, except = [] }) => {
    if (!was.test(words) || within?.test(file) === false) return false;
    return !except.some((exception) => exception.name.test(words) && exception.in?.test(file) !== false);
  })?.use;
}

async function sources(): Promise<readonly string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && !skipped.test(`${entry.name}/`));
  const below = folders.map(async ({ name }) =>
    (await readdir(join(root, name), { recursive: true })).map((path) => join(name, path)),
  );
  const files = [...entries.map(({ name }) => name), ...(await Promise.all(below)).flat()];
  return files.filter((file) => /\.(ts|mjs)$/.test(file) && !skipped.test(file) && !thisTable.test(file));
}

test('no name has a retired word', async (t) => {
  const files = await sources();
  t.true(files.length > 500);
  const found: string[] = [];
  for (const file of files) {
    const names = [{ name: '', line: 1 }, ...identifiersOf(await readFile(join(root, file), 'utf8'))];
    const ofFile = file.split('/').map((name) => ({ name: name.replace(/(\.test)?\.\w+$/, ''), line: 1 }));
    for (const { name, line } of [...ofFile, ...names]) {
      const use = replacementOf(name, file);
      if (use !== undefined) found.push(`${file}:${line}: ${name}: use ${use}`);
    }
  }
  t.deepEqual([...new Set(found)], []);
});

test('names are found in code, and in the code of templates, and nowhere else', (t) => {
  const source = [
    '// flow',
    '/* flow',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a source in a string
    ' */ const beatMs = `flow ${open({ lay: `beat ${judges}` })} flow`;',
    "const plain = 'flow' + \"flow\" + /[/'] flow/.source / 2;",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a source in a string
    '#buried = `\\`${1}`;',
  ].join('\n');
  const names = [...identifiersOf(source)].map(({ name, line }) => `${line} ${name}`);
  t.deepEqual(names, [
    '3 const',
    '3 beatMs',
    '3 open',
    '3 lay',
    '3 judges',
    '4 const',
    '4 plain',
    '4 source',
    '5 buried',
  ]);
});

test('a word is found in whatever way a name is written, and not as a part of another', (t) => {
  for (const name of ['flow', 'runFlow', 'flowsMax', 'FLOWS_MAX', 'flow-commands', 'flowsUnderWay']) {
    t.is(replacementOf(name, 'gateway/a.ts'), 'workflow', name);
  }
  t.is(replacementOf('isUnderWay', 'gateway/a.ts'), 'in flight');
  for (const name of ['workflow', 'overflow', 'lookup', 'layers', 'workflowsInFlight', 'ports']) {
    t.is(replacementOf(name, 'gateway/a.ts'), undefined, name);
  }
});

test('what is right in one place is wrong in another', (t) => {
  t.is(replacementOf('refused', 'gateway/http/exchange.ts'), undefined);
  t.not(replacementOf('refused', 'runtime/commit/committer.ts'), undefined);
  t.is(replacementOf('settleCommit', 'runtime/commit/settlement.ts'), undefined);
  t.not(replacementOf('settle', 'runtime/actor/message.ts'), undefined);
  t.is(replacementOf('freePorts', 'test/support/free-ports.ts'), undefined);
  t.not(replacementOf('GatewayPorts', 'process/gateway.ts'), undefined);
});
