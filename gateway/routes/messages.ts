/** Messages between users (docs/protocol/inbox.md, "Messages"). */
import { Inbox } from '../../actors/user/inbox/contract.ts';
import { family } from './endpoint.ts';

const { endpoint } = family({ tag: 'Messages' });

/** The longest message, its field names, and the escapes that JSON may need. */
const bodyBytesMax = 128 * 1024;

export const messageRoutes = [
  endpoint('GET /v1/messages', {
    command: Inbox.commands.listMessages,
    summary: 'The messages that wait for the caller.',
  }),
  endpoint('GET /v1/messages/outbound', {
    command: Inbox.commands.listSentMessages,
    summary: 'The messages that the caller has sent and that nobody has deleted.',
  }),
  endpoint('POST /v1/messages', {
    command: Inbox.commands.sendMessage,
    summary: 'Sends a message to a user.',
    bodyLimit: bodyBytesMax,
    refusals: [400, 413],
  }),
  endpoint('DELETE /v1/messages/inbound', {
    command: Inbox.commands.deleteMessages,
    summary: 'Deletes all messages that wait for the caller.',
  }),
  endpoint('DELETE /v1/messages/:messageUuid', {
    command: Inbox.commands.deleteMessage,
    summary: 'Deletes a message that the caller has sent or got.',
    refusals: [400],
  }),
];
