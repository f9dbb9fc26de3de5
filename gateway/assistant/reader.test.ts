import test from 'ava';
import fc from 'fast-check';
import { type VendorId, vendorIds } from '../../actors/assistant/profiles.ts';
import { bodyOf, helloTurn, type ModelTurn, toolTurn } from '../../test/kit/model-server.ts';
import { AssistantAnswer } from './answer.ts';
import { anthropic } from './anthropic.ts';
import type { AssistantEvent } from './events.ts';
import { AnswerError } from './failure.ts';
import { ollama } from './ollama.ts';
import { openai } from './openai.ts';
import { AnswerReader } from './reader.ts';

const providers = { anthropic, openai, ollama };

/** Cuts the bytes into chunks of any size, as the gateway may receive them. */
function eventsOf(id: VendorId, pieces: readonly Uint8Array[]): readonly AssistantEvent[] {
  const answer = new AssistantAnswer('call');
  const reader = new AnswerReader(providers[id], answer);
  const events: AssistantEvent[] = [];
  try {
    for (const piece of pieces) {
      reader.push(piece);
      events.push(...answer.take());
    }
    reader.end();
    return [...events, ...answer.end()];
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    return [...events, ...answer.fail(error.failure)];
  }
}

const bytesOf = (id: VendorId, turn: ModelTurn): Buffer => Buffer.from(bodyOf[id](turn));

/** What a client assembles from it. */
function readOf(events: readonly AssistantEvent[]) {
  const text = events.map((each) => (each.kind === 'text-delta' ? each.delta : '')).join('');
  const tools = events.filter((each) => each.kind === 'tool-call');
  return {
    text,
    tools,
    last: events.at(-1),
    finishes: events.filter(({ kind }) => kind === 'finish').length,
  };
}

for (const id of vendorIds) {
  test(`${id}: text, usage and the end, in this order`, (t) => {
    t.deepEqual(eventsOf(id, [bytesOf(id, helloTurn)]), [
      { kind: 'text-delta', delta: 'Hel' },
      { kind: 'text-delta', delta: 'lo\n\n“wörld” 😀' },
      { kind: 'usage', promptTokens: 7, completionTokens: 3, totalTokens: 10 },
      { kind: 'finish', stopReason: 'end_turn' },
    ]);
    const { last } = readOf(eventsOf(id, [bytesOf(id, { ...helloTurn, isCutByLength: true })]));
    t.deepEqual(last, { kind: 'finish', stopReason: 'max_tokens' });
  });

  test(`${id}: calls of tools come whole, with ids`, (t) => {
    const { tools, last } = readOf(eventsOf(id, [bytesOf(id, toolTurn)]));
    const ids = id === 'ollama' ? ['call-1', 'call-2'] : ['one', 'two'];
    t.deepEqual(
      tools,
      toolTurn.tools.map(({ name, args }, index) => ({
        kind: 'tool-call',
        id: ids[index] ?? '',
        name,
        args,
      })),
    );
    t.deepEqual(last, { kind: 'finish', stopReason: 'tool_use' });
  });

  test(`${id}: cut at every byte, what comes is a part of the whole, and finishes once, as failed`, (t) => {
    for (const turn of [helloTurn, toolTurn]) {
      const bytes = bytesOf(id, turn);
      const whole = readOf(eventsOf(id, [bytes]));
      for (let at = 0; at < bytes.length; at += 1) {
        const events = eventsOf(id, [bytes.subarray(0, at)]);
        const { text, tools, last, finishes } = readOf(events);
        t.is(finishes, 1, `${at}`);
        t.true(whole.text.startsWith(text), `${at}`);
        t.deepEqual(tools, whole.tools.slice(0, tools.length), `${at}`);
        const isWhole = last?.kind === 'finish' && last.stopReason !== 'error';
        t.is(isWhole, !events.some(({ kind }) => kind === 'error'), `${at}`);
        if (isWhole) t.deepEqual([text, tools], [whole.text, whole.tools], `${at}`);
      }
    }
  });

  test(`${id}: the pieces it comes in do not matter`, (t) => {
    const turns = fc.record({
      text: fc.array(fc.string({ unit: 'binary' }).filter((text) => text !== '')),
      tools: fc.array(
        fc.record({
          id: fc.uuid(),
          name: fc.constant('tool'),
          args: fc.dictionary(fc.string(), fc.jsonValue()),
        }),
      ),
      isCutByLength: fc.boolean(),
      prompt: fc.nat(),
      completion: fc.nat(),
    });
    fc.assert(
      fc.property(turns, fc.array(fc.nat({ max: 5_000 })), (turn, cuts) => {
        const bytes = bytesOf(id, turn);
        const at = [...new Set([0, ...cuts.map((cut) => cut % bytes.length)])].toSorted((a, b) => a - b);
        const pieces = at.map((from, index) => bytes.subarray(from, at[index + 1]));
        t.deepEqual(eventsOf(id, pieces), eventsOf(id, [bytes]));
        t.is(readOf(eventsOf(id, pieces)).text, turn.text.join(''));
      }),
      { numRuns: 60 },
    );
  });

  test(`${id}: bytes that nobody has thought of fail, or are skipped, and never more than once`, (t) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.nat(), (noise, where) => {
        const bytes = bytesOf(id, toolTurn);
        const at = where % bytes.length;
        const events = eventsOf(id, [bytes.subarray(0, at), noise, bytes.subarray(at)]);
        t.is(readOf(events).finishes, 1);
        t.is(events.at(-1)?.kind, 'finish');
      }),
      { numRuns: 100 },
    );
  });

  test(`${id}: an event without end is not held without end, and neither are arguments`, (t) => {
    const last = [
      { kind: 'error', message: 'The answer of the assistant provider is too large.' },
      { kind: 'finish', stopReason: 'error' },
    ];
    const endless = Array.from({ length: 40 }, () => Buffer.alloc(65_536, 'x'));
    t.deepEqual(eventsOf(id, [Buffer.from('data: '), ...endless]), last);
    const lines = Array.from({ length: 400 }, () => Buffer.from(`data: "${'x'.repeat(8_192)}"\n`));
    if (id !== 'ollama') t.deepEqual(eventsOf(id, lines), last);
    const args = { text: 'x'.repeat(700_000) };
    const tools = [1, 2].map((number) => ({ id: `${number}`, name: 'tool', args }));
    t.deepEqual(eventsOf(id, [bytesOf(id, { ...helloTurn, tools })]).slice(-2), last);
    const many = Array.from({ length: 129 }, (_, index) => ({ id: `${index}`, name: 'tool', args: {} }));
    t.deepEqual(eventsOf(id, [bytesOf(id, { ...helloTurn, tools: many })]).slice(-2), last);
  });
}

test("the provider's words about its failure are not passed on", (t) => {
  const said = {
    anthropic: 'data: {"type":"error","error":{"type":"overloaded_error","message":"secret"}}\n\n',
    openai: 'data: {"error":{"message":"secret"}}\n\n',
    ollama: '{"error":"secret"}\n',
  };
  for (const id of vendorIds) {
    const events = eventsOf(id, [Buffer.from(said[id])]);
    t.deepEqual(events.at(-1), { kind: 'finish', stopReason: 'error' });
    t.false(JSON.stringify(events).includes('secret'));
  }
});

test('servers that speak like OpenAI may leave out the end, the usage and the places of calls', (t) => {
  const call = (args: string) => ({ function: { name: 'now', arguments: args } });
  const said = [
    { choices: [{ delta: { tool_calls: [call('{"a"'), call('not JSON')] } }] },
    { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
  ];
  const body = said.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join('');
  t.deepEqual(eventsOf('openai', [Buffer.from(body)]), [
    { kind: 'tool-call', id: 'call-1', name: 'now', args: {} },
    { kind: 'tool-call', id: 'call-2', name: 'now', args: {} },
    { kind: 'finish', stopReason: 'tool_use' },
  ]);
});

const anthropicCall = (index: number, json: string) => [
  {
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: `id-${index}`, name: 'save' },
  },
  { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: json } },
  { type: 'content_block_stop', index },
];
const anthropicEnd = (reason: string) => [
  { type: 'message_delta', delta: { stop_reason: reason } },
  { type: 'message_stop' },
];
const anthropicText = (index: number, text: string) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'text_delta', text },
});
const openAiCall = (index: number, json: string) => ({
  choices: [
    {
      delta: {
        tool_calls: [{ index, id: `id-${index}`, function: { name: 'save', arguments: json } }],
      },
    },
  ],
});
const openAiEnd = (reason: string) => ({ choices: [{ delta: {}, finish_reason: reason }] });
const toldBy = (id: VendorId, said: readonly object[]) =>
  eventsOf(id, [Buffer.from(said.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''))]);
const toolCall = (index: number, args: object) => ({
  kind: 'tool-call',
  id: `id-${index}`,
  name: 'save',
  args,
});

test('a call that the length of the answer has cut is not told, those before it are', (t) => {
  const part = '{"text":"half of it, and then';
  for (const cut of [part, '', '{"text":"whole"']) {
    t.deepEqual(toldBy('anthropic', [...anthropicCall(0, cut), ...anthropicEnd('max_tokens')]), [
      { kind: 'finish', stopReason: 'max_tokens' },
    ]);
    t.deepEqual(toldBy('openai', [openAiCall(0, cut), openAiEnd('length')]), [
      { kind: 'finish', stopReason: 'max_tokens' },
    ]);
    const finish = { kind: 'finish', stopReason: 'tool_use' };
    // A provider may send no arguments for a call that has none.
    t.deepEqual(
      toldBy('anthropic', [
        ...anthropicCall(0, ''),
        ...anthropicCall(1, '{"n":1}'),
        ...anthropicCall(2, cut),
        ...anthropicEnd('max_tokens'),
      ]),
      [toolCall(0, {}), toolCall(1, { n: 1 }), finish] as never,
    );
    t.deepEqual(
      toldBy('openai', [
        openAiCall(0, ''),
        openAiCall(1, '{"n":1}'),
        openAiCall(2, cut),
        openAiEnd('length'),
      ]),
      [toolCall(0, {}), toolCall(1, { n: 1 }), finish] as never,
    );
  }
});

test('a call that nothing has cut is told, whatever the provider made of its arguments', (t) => {
  for (const json of ['', 'not JSON']) {
    t.deepEqual(toldBy('anthropic', [...anthropicCall(0, json), ...anthropicEnd('tool_use')]), [
      toolCall(0, {}),
      { kind: 'finish', stopReason: 'tool_use' },
    ] as never);
    // Text follows the call, so the call is whole, and it goes out before that text.
    const textAfter = [...anthropicCall(0, json), anthropicText(1, 'So'), ...anthropicEnd('max_tokens')];
    t.deepEqual(toldBy('anthropic', textAfter), [
      toolCall(0, {}),
      { kind: 'text-delta', delta: 'So' },
      { kind: 'finish', stopReason: 'tool_use' },
    ] as never);
  }
  const whole = [...anthropicCall(0, '{"n":1}'), ...anthropicEnd('max_tokens')];
  t.deepEqual(toldBy('anthropic', whole).at(0), toolCall(0, { n: 1 }) as never);
});
