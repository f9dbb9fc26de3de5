/** Checks what clients send: a configuration, or a reminder to publish. */

import { isStorableText } from '../../../runtime/table.ts';
import { type Refused, refuse } from '../../reply.ts';
import { isoTime, sentTimeMs } from '../../times.ts';
import type { DeliveryConfig } from './delivery-config.ts';
import { type Channel, destinationOf, isChannel } from './published-reminder.ts';

const charactersMax = 2_000;
const reminderId = /^[\w.:-]{1,128}$/;
/** Each reader would take a time without a zone as their own. */
const zoned = /T.*(Z|[+-]\d{2}:?\d{2})$/i;
/** All control characters except tabs and line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

const invalidChannel = refuse.badRequest(
  'The channel must be email, telegram or whatsapp.',
  'invalid-channel',
);
const invalidDestination = refuse.badRequest(
  'This is not exactly one destination of the channel.',
  'invalid-destination',
);
const invalidConfig = refuse.badRequest(
  'Say by true or false whether it is enabled.',
  'invalid-delivery-config',
);
const invalidReminder = (why: string) => refuse.badRequest(why, 'invalid-reminder');

type UncheckedFields<Name extends string> = { readonly [Key in Name]?: unknown };

export function readConfig(
  input: UncheckedFields<'channel' | 'destination' | 'enabled'>,
): DeliveryConfig | Refused {
  const { channel } = input;
  if (!isChannel(channel)) return invalidChannel;
  const enabled = input.enabled ?? false;
  if (typeof enabled !== 'boolean') return invalidConfig;
  const hasDestination = (input.destination ?? '') !== '';
  if (!hasDestination) return enabled ? invalidDestination : { channel, destination: null, enabled };
  const destination = destinationOf(channel, input.destination);
  return destination === undefined ? invalidDestination : { channel, destination, enabled };
}

export interface ReminderInput {
  readonly id: string;
  readonly message: string;
  readonly dueAtMs: number;
  readonly channel: Channel | null;
  readonly destination: string | null;
}

/** `usual` is the account's channel. A destination without a channel belongs to it. */
export function readReminder(
  input: UncheckedFields<'id' | 'message' | 'dueAtUtc' | 'channel' | 'destination'>,
  usual: Channel | undefined,
): ReminderInput | Refused {
  const id = typeof input.id === 'string' ? input.id.trim() : '';
  const dueAtMs = readDueMs(input.dueAtUtc);
  if (!reminderId.test(id) || dueAtMs === undefined) {
    return invalidReminder('A reminder has an id and a valid dueAtUtc, with Z or an offset.');
  }
  const message = input.message ?? '';
  if (!isMessage(message)) {
    return invalidReminder(`The message is text of ${charactersMax} characters at most.`);
  }
  const channel = input.channel ?? null;
  if (channel !== null && !isChannel(channel)) {
    return invalidReminder('The channel must be email, telegram or whatsapp.');
  }
  if ((input.destination ?? null) === null) return { id, message, dueAtMs, channel, destination: null };
  const used = channel ?? usual;
  const destination = used && destinationOf(used, input.destination);
  if (destination === undefined) {
    return invalidReminder('The destination is not exactly one of the channel.');
  }
  return { id, message, dueAtMs, channel, destination };
}

function readDueMs(input: unknown): number | undefined {
  if (typeof input !== 'string' || !zoned.test(input.trim())) return undefined;
  const ms = sentTimeMs(input);
  // Years of more than four digits have another form.
  return ms === undefined || isoTime(ms).length !== 24 ? undefined : ms;
}

const isMessage = (input: unknown): input is string =>
  typeof input === 'string' && input.length <= charactersMax && isStorableText(input) && !control.test(input);
