/** The relays that mail goes through, in the order in which they are tried. */
import type { View } from '../../runtime/command.ts';
import { MailSettings } from '../settings.ts';
import type { Mailbox } from './address.ts';

export type Security = 'starttls' | 'implicit' | 'none';

/** Of the settings: stands for the list while there is none. */
export const directRelayId = 'direct';

export interface RateLimit {
  readonly perMinute: number | null;
  readonly perDay: number | null;
}

interface AnyRelay {
  readonly id: string;
  readonly enabled: boolean;
  readonly from: Mailbox;
  readonly rateLimit: RateLimit;
}
export interface SmtpRelay extends AnyRelay {
  readonly kind: 'smtp';
  readonly host: string;
  readonly port: number;
  readonly security: Security;
  readonly username: string | null;
}
export type Relay = SmtpRelay;

const noRateLimit: RateLimit = { perMinute: null, perDay: null };

export function relaysOf(view: View): readonly Relay[] {
  const direct = directRelay(view.use(MailSettings));
  return direct === undefined ? [] : [direct];
}

function directRelay({ host, port, isImplicitTls, user, from }: MailSettings): SmtpRelay | undefined {
  if (host === undefined || from === undefined) return undefined;
  const usual: Security = isLoopbackHost(host) ? 'none' : 'starttls';
  return {
    id: directRelayId,
    kind: 'smtp',
    enabled: true,
    from,
    rateLimit: noRateLimit,
    host,
    port,
    security: (isImplicitTls ?? port === implicitTlsPort) ? 'implicit' : usual,
    username: user ?? null,
  };
}

export const implicitTlsPort = 465;

/** There nobody but this machine hears what is said, and no certificate can name it. */
export const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);

export const credentialOf = (view: Pick<View, 'use'>): string | undefined => view.use(MailSettings).password;
