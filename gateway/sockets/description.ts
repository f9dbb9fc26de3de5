/**
 * The AsyncAPI 3.0 description of `/sockets` and `/sockets/sync` (docs/protocol/sockets.md). It is generated from the
 * lists of frames and the schemas that the code uses. An operation names the action of the server: it sends, or it
 * receives.
 */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { modernReplySchema } from '../../actors/collection/sync-contract.ts';
import { type FrameType, frameTypes } from '../../actors/user/contract.ts';
import { schemaOf } from '../http/openapi.ts';
import { socketPath } from './admission.ts';
import { commandBody, errorCodes } from './sync-lane/commands.ts';
import { digestPattern } from './sync-lane/digest.ts';
import {
  type ClientFrameType,
  clientFrameTypes,
  identifierPattern,
  laneFrameBytesMax,
  type ServerFrameType,
  sequenceMax,
  serverFrameTypes,
} from './sync-lane/envelope.ts';
import { lanePath } from './sync-lane/lane.ts';
import { endCodes } from './sync-lane/lane-socket.ts';
import { ticketCharacters } from './sync-lane/tickets.ts';

type Json = Readonly<Record<string, unknown>>;

// --- /sockets ---------------------------------------------------------------------------------------------------

const anything = z.record(z.string(), z.unknown());
const changed = z.object({ userUuid: z.string(), sessionUuid: z.string(), timestamp: z.number() });

/** Frames whose fields are beside the type. */
const flat = {
  MFA_APPROVAL_REQUESTED: {
    challengeId: z.string(),
    requestingUserAgent: z.string(),
    requestingIpAddress: z.string(),
    createdAt: z.number(),
    expiresAt: z.number(),
  },
} satisfies Partial<Record<FrameType, z.ZodRawShape>>;

const payloads: Readonly<Record<Exclude<FrameType, keyof typeof flat>, z.ZodType>> = {
  ITEMS_CHANGED_ON_SERVER: changed,
  SYNC_ITEMS_PUSHED: changed.extend({
    syncToken: z.string(),
    baseSyncToken: z.string(),
    items: z.array(anything),
  }),
  NOTIFICATION_ADDED_FOR_USER: z.object({ notification: anything }),
  MESSAGE_SENT_TO_USER: z.object({ message: anything }),
  USER_INVITED_TO_SHARED_VAULT: z.object({ invite: anything }),
  USER_ROLES_CHANGED: z.object({
    userUuid: z.string(),
    email: z.string(),
    currentRoles: z.array(z.string()),
    timestamp: z.number(),
  }),
};

const isFlat = (type: FrameType): type is keyof typeof flat => type in flat;

const frameOf = (type: FrameType): z.ZodType =>
  isFlat(type)
    ? z.object({ type: z.literal(type), ...flat[type] })
    : z.object({
        type: z.literal(type),
        createdAt: z.iso.datetime(),
        meta: z.object({
          correlation: z.object({ userIdentifier: z.string(), userIdentifierType: z.literal('uuid') }),
          origin: z.string(),
        }),
        payload: payloads[type],
      });

// --- /sockets/sync ----------------------------------------------------------------------------------------------

const identifier = z.string().regex(identifierPattern);
const digest = z.string().regex(digestPattern);
const ticket = z.string().min(ticketCharacters.min).max(ticketCharacters.max);
const sequence = z.int().min(0).max(sequenceMax);
const nothing = z.strictObject({});
/** Commands belong to the modern API alone, and the lane does not report `replayed`. */
const command = z.object({ id: identifier, digest, status: z.literal('committed') });
const result = z.union([
  modernReplySchema.extend({ command }),
  z
    .object({ status: z.int(), data: anything, command })
    .describe('What HTTP would have refused the command with.'),
]);

/** The commands that the server executes. */
const offered = {
  AUTH: z.strictObject({ ticket, deviceId: identifier, resumeSequence: sequence.optional() }),
  REAUTH: z.strictObject({ ticket, deviceId: identifier }),
  PING: nothing,
  COMMAND: z.strictObject({ command: z.literal('SYNC_ITEMS'), body: commandBody }),
  STATUS: nothing,
} satisfies Partial<Record<ClientFrameType, z.ZodType>>;

const isOffered = (type: ClientFrameType): type is keyof typeof offered => type in offered;

const answers: Readonly<Record<keyof typeof offered, readonly ServerFrameType[]>> = {
  AUTH: ['AUTHENTICATED', 'ERROR'],
  REAUTH: ['REAUTHENTICATED', 'ERROR'],
  PING: ['PONG'],
  COMMAND: ['ACCEPTED', 'COMMITTED', 'STATUS', 'ERROR'],
  STATUS: ['STATUS', 'ERROR'],
};

const serverPayloads: Readonly<Record<ServerFrameType, z.ZodType>> = {
  AUTHENTICATED: z.object({
    capability: z.literal('ws-sync'),
    protocolVersion: z.literal(1),
    nextClientSequence: z.int().min(1),
    operations: z.array(z.literal('SYNC_ITEMS')),
  }),
  REAUTHENTICATED: nothing,
  PONG: nothing,
  ACCEPTED: z.object({ status: z.literal('ACCEPTED') }),
  COMMITTED: z.object({ status: z.literal('COMMITTED'), result }),
  STATUS: z.object({
    status: z.enum(['UNKNOWN', 'ACCEPTED', 'COMMITTED']),
    code: z.literal('RESULT_TOO_LARGE').optional(),
    result: result.optional(),
  }),
  ERROR: z.object({ code: z.enum([...errorCodes, ...endCodes]), retryable: z.boolean() }),
};

const envelope = {
  version: z.literal(1),
  channel: z.literal('sync'),
  sequence,
  payloadLength: z.int().min(2).max(laneFrameBytesMax),
};

const clientFrame = (type: ClientFrameType): z.ZodType =>
  z.strictObject({
    ...envelope,
    type: z.literal(type),
    requestId: identifier,
    commandId: identifier,
    payload: isOffered(type) ? offered[type] : anything,
    ...((type === 'COMMAND' || type === 'STATUS') && { digest }),
  });

const serverFrame = (type: ServerFrameType): z.ZodType =>
  z.strictObject({
    ...envelope,
    type: z.literal(type),
    requestId: z.string(),
    commandId: z.string(),
    payload: serverPayloads[type],
    ...((type === 'ACCEPTED' || type === 'COMMITTED' || type === 'STATUS') && { digest }),
  });

// --- the document -----------------------------------------------------------------------------------------------

const ref = (...path: readonly string[]): Json => ({
  $ref: `#/${path.map((part) => part.replaceAll('/', '~1')).join('/')}`,
});

const message = (name: string, schema: z.ZodType, io: 'input' | 'output', summary?: string): Json => ({
  name,
  contentType: 'application/json',
  ...(summary !== undefined && { summary }),
  payload: schemaOf(schema, io),
});

const ofClient = (type: string): string => `client.${type}`;
const ofServer = (type: string): string => `server.${type}`;

const socketMessages = (): Json => ({
  [ofClient('ping')]: { name: 'ping', contentType: 'text/plain', payload: { const: 'ping' } },
  [ofServer('PONG')]: message('PONG', z.object({ type: z.literal('PONG') }), 'output'),
  ...Object.fromEntries(frameTypes.map((type) => [ofServer(type), message(type, frameOf(type), 'output')])),
});

/** Describing all messages at once would block the event loop for tens of milliseconds. */
async function laneMessages(): Promise<Json> {
  const messages: Record<string, Json> = {};
  for (const type of clientFrameTypes) {
    const summary = isOffered(type) ? undefined : 'Not offered: answered by OPERATION_UNAVAILABLE.';
    messages[ofClient(type)] = message(type, clientFrame(type), 'input', summary);
  }
  for (const type of serverFrameTypes) {
    await setImmediate();
    messages[ofServer(type)] = message(type, serverFrame(type), 'output');
  }
  return messages;
}

const inChannel = (channel: string, names: readonly string[]) =>
  names.map((name) => ref('channels', channel, 'messages', name));

const laneOperations = (): Json =>
  Object.fromEntries(
    clientFrameTypes.map((type) => [
      `lane.${type}`,
      {
        action: 'receive',
        channel: ref('channels', 'syncLane'),
        messages: inChannel('syncLane', [ofClient(type)]),
        reply: {
          channel: ref('channels', 'syncLane'),
          messages: inChannel('syncLane', (isOffered(type) ? answers[type] : ['ERROR']).map(ofServer)),
        },
      },
    ]),
  );

const bindings = (query?: Json): Json => ({
  ws: { method: 'GET', bindingVersion: '0.1.0', ...(query !== undefined && { query }) },
});

/** `version` is the server's. The result is plain JSON. */
export async function asyncApiDocument(version: string): Promise<Json> {
  return {
    asyncapi: '3.0.0',
    info: { title: 'Scriptorium', version, description },
    defaultContentType: 'application/json',
    channels: {
      sockets: {
        address: socketPath,
        description: 'Tells the other devices of a user that there is something to sync.',
        messages: socketMessages(),
        bindings: bindings(schemaOf(z.object({ authToken: z.string() }), 'input')),
      },
      syncLane: {
        address: lanePath,
        description: `Carries commands and their answers, in text frames of at most ${laneFrameBytesMax} bytes.`,
        messages: await laneMessages(),
        bindings: bindings(),
      },
    },
    operations: {
      'sockets.tell': {
        action: 'send',
        channel: ref('channels', 'sockets'),
        messages: inChannel('sockets', frameTypes.map(ofServer)),
      },
      'sockets.ping': {
        action: 'receive',
        channel: ref('channels', 'sockets'),
        messages: inChannel('sockets', [ofClient('ping')]),
        reply: {
          channel: ref('channels', 'sockets'),
          messages: inChannel('sockets', [ofServer('PONG')]),
        },
      },
      ...laneOperations(),
      'lane.end': {
        action: 'send',
        summary: 'Before the server closes a socket, with `protocol` as the ids.',
        channel: ref('channels', 'syncLane'),
        messages: inChannel('syncLane', [ofServer('ERROR')]),
      },
    },
  };
}

const description =
  'The sockets of a server for end-to-end encrypted notes. A token or a ticket for each is got over HTTP; see the OpenAPI ' +
  'description at `/v1/openapi.json`.';
