import test from 'ava';
import * as fc from 'fast-check';
import { type ElementName, type Rich, type RichElement, richTextOf } from './rich-text.ts';

const text = (content: string, format = 0) => ({ type: 'text', text: content, format });
const document = (...children: unknown[]) => JSON.stringify({ root: { type: 'root', children } });
const element = (name: ElementName, ...children: Rich[]): RichElement => ({ name, children });

test('headings, lists, tasks, quotes, code and tables become elements, and formats of texts too', (t) => {
  const rich = richTextOf(
    document(
      { type: 'heading', tag: 'h1', children: [text('Plan')] },
      { type: 'paragraph', children: [text('bold', 1), { type: 'linebreak' }, text('both', 3)] },
      { type: 'list', listType: 'number', children: [{ type: 'listitem', children: [text('one')] }] },
      {
        type: 'list',
        listType: 'check',
        children: [
          { type: 'listitem', checked: true, children: [text('done')] },
          { type: 'listitem', checked: false, children: [text('open')] },
        ],
      },
      {
        type: 'code',
        children: [
          { type: 'code-highlight', text: 'let x' },
          { type: 'tab', text: '\t' },
        ],
      },
    ),
  );
  t.deepEqual(rich as unknown, [
    element('h3', 'Plan'),
    element('p', element('strong', 'bold'), element('br'), element('em', element('strong', 'both'))),
    element('ol', element('li', 'one')),
    element(
      'ul',
      element('li', { name: 'input', children: [], checked: true }, 'done'),
      element('li', { name: 'input', children: [], checked: false }, 'open'),
    ),
    element('pre', 'let x', '\t'),
  ]);
});

test('only a link that runs nothing is one', (t) => {
  const linkTo = (url: unknown) => richTextOf(document({ type: 'link', url, children: [text('here')] }));
  for (const url of ['https://example.org/a?b=c', 'http://example.org/', 'mailto:a@example.org'])
    t.deepEqual(linkTo(url) as unknown, [{ ...element('a', 'here'), href: url }]);
  for (const url of [
    ...['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc'],
    ...['//example.org', 'x', '', null, 7, { href: 'https://example.org' }],
  ])
    t.deepEqual(linkTo(url) as unknown, [element('span', 'here')], String(url));
});

test('a node that the page does not know is shown by its content, or said to be missing', (t) => {
  t.deepEqual(
    richTextOf(
      document(
        { type: 'script', children: [text('inside')] },
        { type: 'snfile' },
        { type: 'constructor' },
        null,
      ),
    ) as unknown,
    [element('div', 'inside'), ...[1, 2, 3].map(() => element('div', '[This page cannot show this part.]'))],
  );
});

test('a text that is no such document, and one that is too deep or too long, stay as they came', (t) => {
  const nested = (depth: number): unknown =>
    depth === 0 ? text('deep') : { type: 'quote', children: [nested(depth - 1)] };
  t.truthy(richTextOf(document(nested(60))));
  t.is(richTextOf(document(nested(70))), undefined);
  t.notThrows(() =>
    richTextOf(`{"root":{"type":"root","children":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`),
  );
  t.truthy(richTextOf(document(...Array.from({ length: 50_000 }, () => text('')))));
  t.is(richTextOf(document(...Array.from({ length: 50_001 }, () => text('')))), undefined);
  for (const plain of ['', 'hello', '{"root":1}', '{"root":{"type":"root"}}', 'null', '[]', '{"root":'])
    t.is(richTextOf(plain), undefined, plain);
});

test('a document becomes known elements alone', (t) => {
  const known = new Set(
    'p blockquote pre hr br table tr td strong em s code h3 h4 h5 h6 div span ul ol li a input'.split(' '),
  );
  const types = fc.constantFrom(
    'heading',
    'list',
    'listitem',
    'link',
    'text',
    'script',
    '__proto__',
    'table',
  );
  const node = fc.letrec((tie) => ({
    node: fc.record({
      type: types,
      tag: fc.oneof(fc.constantFrom('h1', 'script', '__proto__'), fc.anything()),
      url: fc.anything(),
      children: fc.oneof({ maxDepth: 4 }, fc.anything(), fc.array(tie('node'))),
    }),
  })).node;
  const namesOf = (rich: Rich): readonly string[] =>
    typeof rich === 'string' ? [] : [rich.name, ...rich.children.flatMap(namesOf)];
  fc.assert(
    fc.property(fc.array(node), (children) => {
      for (const name of (richTextOf(document(...children)) ?? []).flatMap(namesOf))
        t.true(known.has(name), name);
    }),
  );
});
