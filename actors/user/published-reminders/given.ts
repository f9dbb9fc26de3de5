/** What clients give: a configuration, or a reminder to publish. */
import { type Refused, refuse } from '../../reply.ts';
import { isStorableText } from '../../storable-text.ts';
import { isoTime, sentTimeMs } from '../times.ts';
import type { DeliveryConfig } from './delivery-config.ts';
import { type Channel, destinationOf, isChannel } from './destination.ts';

const charactersMax = 2_000;
const reminderId = /^[\w.:-]{1,128}$/;
/** A time without a zone would be read in the reader's own. */
const zoned = /T.*(Z|[+-]\d{2}:?\d{2})$/i;
/** All but tabs and the ends of lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

const invalidChannel = refuse.badRequest('The channel is email, telegram or whatsapp.', 'invalid-channel');
const invalidDestination = refuse.badRequest(
  'This is not exactly one destination of the channel.',
  'invalid-destination',
);
const invalidConfig = refuse.badRequest('Whether it is enabled is true or false.', 'invalid-delivery-config');
const invalidReminder = (why: string) => refuse.badRequest(why, 'invalid-reminder');

type Given<Name extends string> = { readonly [Key in Name]?: unknown };

export function givenConfig(given: Given<'channel' | 'destination' | 'enabled'>): DeliveryConfig | Refused {
  const { channel } = given;
  if (!isChannel(channel)) return invalidChannel;
  const enabled = given.enabled ?? false;
  if (typeof enabled !== 'boolean') return invalidConfig;
  const isGiven = (given.destination ?? '') !== '';
  if (!isGiven) return enabled ? invalidDestination : { channel, destination: null, enabled };
  const destination = destinationOf(channel, given.destination);
  return destination === undefined ? invalidDestination : { channel, destination, enabled };
}

export interface GivenReminder {
  readonly id: string;
  readonly message: string;
  readonly dueAtMs: number;
  readonly channel: Channel | null;
  readonly destination: string | null;
}

/** `usual`: the channel of the account, of which a destination is where the reminder names no other. */
export function givenReminder(
  given: Given<'id' | 'message' | 'dueAtUtc' | 'channel' | 'destination'>,
  usual: Channel | undefined,
): GivenReminder | Refused {
  const id = typeof given.id === 'string' ? given.id.trim() : '';
  const dueAtMs = givenDueMs(given.dueAtUtc);
  if (!reminderId.test(id) || dueAtMs === undefined) {
    return invalidReminder('A reminder has an id and a valid dueAtUtc, with Z or an offset.');
  }
  const message = given.message ?? '';
  if (!isMessage(message)) {
    return invalidReminder(`The message is text of ${charactersMax} characters at most.`);
  }
  const channel = given.channel ?? null;
  if (channel !== null && !isChannel(channel)) {
    return invalidReminder('The channel is email, telegram or whatsapp.');
  }
  if ((given.destination ?? null) === null) return { id, message, dueAtMs, channel, destination: null };
  const used = channel ?? usual;
  const destination = used && destinationOf(used, given.destination);
  if (destination === undefined) {
    return invalidReminder('The destination is not exactly one of the channel.');
  }
  return { id, message, dueAtMs, channel, destination };
}

function givenDueMs(given: unknown): number | undefined {
  if (typeof given !== 'string' || !zoned.test(given.trim())) return undefined;
  const ms = sentTimeMs(given);
  // Years of more than four digits are written otherwise.
  return ms === undefined || isoTime(ms).length !== 24 ? undefined : ms;
}

const isMessage = (given: unknown): given is string =>
  typeof given === 'string' && given.length <= charactersMax && isStorableText(given) && !control.test(given);
