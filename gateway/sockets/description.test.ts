import test from 'ava';
import { z } from 'zod';
import { frameTypes } from '../../actors/user/contract.ts';
import { asyncApiDocument } from './description.ts';
import { clientFrameTypes, serverFrameTypes } from './sync-lane/envelope.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
const document = (await asyncApiDocument('1.2.3')) as any;

function* refsIn(value: unknown): Iterable<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') yield inner;
    else yield* refsIn(inner);
  }
}

const resolved = (ref: string): unknown =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);

test('the description is plain JSON of AsyncAPI 3, and says whose it is', (t) => {
  t.deepEqual(JSON.parse(JSON.stringify(document)), document);
  t.is(document.asyncapi, '3.0.0');
  t.is(document.info.version, '1.2.3');
  t.deepEqual(
    Object.values<{ address: string }>(document.channels).map(({ address }) => address),
    ['/sockets', '/sockets/sync'],
  );
});

test('every frame that the code knows is a message of its channel, and no other', (t) => {
  const namesOf = (channel: string) => Object.keys(document.channels[channel].messages).sort();
  const all = (side: string, types: readonly string[]) => types.map((type) => `${side}.${type}`);
  t.deepEqual(namesOf('sockets'), ['client.ping', ...all('server', [...frameTypes, 'PONG'])].sort());
  t.deepEqual(
    namesOf('syncLane'),
    [...all('client', clientFrameTypes), ...all('server', serverFrameTypes)].sort(),
  );
});

test('operations receive what clients send and send what the server does, and every reference leads somewhere', (t) => {
  const refs = [...refsIn({ operations: document.operations })];
  t.true(refs.length > clientFrameTypes.length);
  for (const ref of refs) t.not(resolved(ref), undefined, ref);
  const described = new Set<string>();
  for (const { action, channel, messages, reply } of Object.values<never>(document.operations) as {
    action: string;
    channel: { $ref: string };
    messages: { $ref: string }[];
    reply?: { messages: { $ref: string }[] };
  }[]) {
    for (const { $ref } of messages) {
      t.true(
        $ref.startsWith(`${channel.$ref}/messages/${action === 'receive' ? 'client' : 'server'}.`),
        $ref,
      );
    }
    for (const { $ref } of [...messages, ...(reply?.messages ?? [])]) described.add($ref);
  }
  const messages = Object.entries<{ messages: object }>(document.channels).flatMap(
    ([channel, { messages: of }]) => Object.keys(of).map((name) => `#/channels/${channel}/messages/${name}`),
  );
  t.deepEqual([...described].sort(), messages.sort());
});

test('a frame of a client is described exactly: what is missing, added or of another form does not fit', (t) => {
  const schema = z.fromJSONSchema(document.channels.syncLane.messages['client.COMMAND'].payload);
  const frame = {
    version: 1,
    channel: 'sync',
    type: 'COMMAND',
    requestId: 'r',
    commandId: 'c',
    sequence: 1,
    payloadLength: 40,
    payload: { command: 'SYNC_ITEMS', body: { api: '20240226' } },
    digest: 'a'.repeat(64),
  };
  t.true(schema.safeParse(frame).success);
  const { digest: _, ...without } = frame;
  for (const wrong of [
    without,
    { ...frame, more: 1 },
    { ...frame, digest: 'A'.repeat(64) },
    { ...frame, commandId: '-c' },
    { ...frame, payload: { command: 'OTHER', body: {} } },
  ]) {
    t.false(schema.safeParse(wrong).success, JSON.stringify(wrong));
  }
});
