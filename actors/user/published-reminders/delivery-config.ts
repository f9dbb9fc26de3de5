/** How an account has its published reminders delivered, and where each of them goes. */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { dayOf } from '../../times.ts';
import { reminderDelivery } from '../feature-flags.ts';
import { isInUse } from '../profile.ts';
import {
  channels,
  contentsOf,
  type DeliveryTarget,
  destinationOf,
  type PublishedReminder,
  type ReminderContents,
} from './published-reminder.ts';

const configSchema = z.object({
  channel: z.enum(channels),
  /** Sealed. Null: none. */
  destination: (z.instanceof(Uint8Array) as z.ZodType<Uint8Array>).nullable(),
  enabled: z.boolean(),
});
type StoredConfig = z.infer<typeof configSchema>;

const deliverySchema = z.object({
  config: configSchema.nullable(),
  /** A request is asking mails back. Nothing is claimed before this time. */
  heldUntilMs: z.number(),
  /** The day in UTC, and the number of messages to messengers on it. */
  day: z.int(),
  messages: z.int(),
});
type DeliveryState = Readonly<z.infer<typeof deliverySchema>>;

export const deliverySlice = slice<DeliveryState>({
  name: 'reminder-delivery',
  schema: deliverySchema,
  initial: { config: null, heldUntilMs: 0, day: 0, messages: 0 },
});

export interface DeliveryConfig {
  readonly channel: DeliveryTarget['channel'];
  readonly destination: string | null;
  readonly enabled: boolean;
}

const sealedFor = (view: View) => ({ userUuid: view.self.id, purpose: 'destination of reminders' });

export function deliveryConfig(view: View): DeliveryConfig | null {
  const { config } = view.get(deliverySlice);
  if (config === null) return null;
  const { destination } = config;
  if (destination === null) return { ...config, destination };
  return { ...config, destination: view.use(UserSecrets).open(sealedFor(view), destination) };
}

export function setDeliveryConfig(turn: Turn, config: DeliveryConfig | null): void {
  turn.set(deliverySlice, { ...turn.get(deliverySlice), config: config && sealed(turn, config) });
}

function sealed(turn: Turn, { destination, ...rest }: DeliveryConfig): StoredConfig {
  if (destination === null) return { ...rest, destination };
  return { ...rest, destination: turn.use(UserSecrets).seal(sealedFor(turn), destination, turn.random) };
}

/** The account is in use, and both the operator and the user want its reminders delivered. */
export const isDeliveryOn = (view: View): boolean => isInUse(view) && reminderDelivery.isOn(view);

export const isTurnedOn = (view: View): boolean => view.get(deliverySlice).config?.enabled === true;

/** Messages may leave now. */
export const mayDeliver = (view: View): boolean => isDeliveryOn(view) && isTurnedOn(view);

export const holdClaims = (turn: Turn, untilMs: number): void =>
  turn.set(deliverySlice, { ...turn.get(deliverySlice), heldUntilMs: untilMs });

/** Counts one message. False: there were as many today as there may be. */
export function countMessage(turn: Turn, perDayMax: number): boolean {
  const before = turn.get(deliverySlice);
  const day = dayOf(turn.nowMs);
  const messages = before.day === day ? before.messages : 0;
  if (perDayMax > 0 && messages >= perDayMax) return false;
  turn.set(deliverySlice, { ...before, day, messages: messages + 1 });
  return true;
}

// --- where one reminder goes --------------------------------------------------------------------------------------

type OwnDelivery = Pick<PublishedReminder, 'channel'> & Pick<ReminderContents, 'destination'>;

/** Undefined: it goes nowhere for now. The reminder's own channel and destination come before those of the account. */
export function deliveryTargetOf(
  own: OwnDelivery,
  config: DeliveryConfig | null,
): DeliveryTarget | undefined {
  const channel = own.channel ?? config?.channel;
  if (channel === undefined) return undefined;
  const ofAccount = config?.channel === channel ? config.destination : null;
  const destination = destinationOf(channel, own.destination ?? ofAccount);
  return destination === undefined ? undefined : { channel, destination };
}

export const ownTarget = (view: View, reminder: PublishedReminder): OwnDelivery => ({
  channel: reminder.channel,
  destination: contentsOf(view, reminder).destination,
});

/** True: the target depends on the configuration of the account. */
export const inherits = ({ channel, destination }: OwnDelivery): boolean =>
  channel === null || destination === null;

export const isSameTarget = (
  a: Partial<DeliveryTarget> | undefined,
  b: Partial<DeliveryTarget> | undefined,
): boolean => a?.channel === b?.channel && a?.destination === b?.destination;

/** The channel of the reminder decides who sends it. */
export function viaOf({ channel }: Pick<PublishedReminder, 'channel'>, view: View): 'mail' | 'messenger' {
  const used = channel ?? view.get(deliverySlice).config?.channel;
  return used === 'email' || used === undefined ? 'mail' : 'messenger';
}
