/** What all routes together are made with. Each family takes what it needs. */
import type { FileStore } from '../../actors/files/store.ts';
import type { KeyedTools } from '../../actors/identity/keyed-tools.ts';
import type { AccountSettings } from '../../actors/settings.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Readiness } from '../../runtime/readiness.ts';
import type { ProxyProbe } from '../admission/proxy-probe.ts';
import type { RateLimiter } from '../admission/rate-limit.ts';
import type { Assistant } from '../assistant/assistant.ts';
import type { CodeHost } from '../code-host/code-host.ts';
import type { ProgramOptions } from '../dav/program.ts';
import type { CookieOptions, GatewaySettings } from '../settings.ts';
import type { SyncTickets } from '../sockets/sync-lane/tickets.ts';
import type { SocketTokens } from '../sockets/tokens.ts';

export interface RoutesOptions extends Omit<KeyedTools, 'userSecrets'> {
  readonly settings: AccountSettings;
  readonly cookies: CookieOptions;
  readonly readiness: Readiness;
  readonly filesServerUrl: string;
  /** `CAPTCHA_UI_URL`; null when none is configured. */
  readonly captchaUiUrl: string | null;
  /** Called with the client's address for every refused sign-in, if the operator asks for that. */
  readonly signInFailed: ((clientAddress: string) => void) | undefined;
  /** Refreshes have their own count: by user if the MAC is valid, by address if it is not. */
  readonly refreshLimiter: RateLimiter;
  readonly files: {
    readonly store: Pick<FileStore, 'write' | 'read'>;
    readonly clock: Pick<Clock, 'nowMs'>;
    readonly random: Pick<Random, 'bytes' | 'uuid'>;
  };
  readonly calendar: ProgramOptions['calendar'] & {
    /** The path where calendar programs find it. */
    readonly basePath: string;
    readonly publicUrl: string | undefined;
  };
  readonly assistant: Assistant;
  /** Called when an operator has paired a subscription, which no audit trail records. */
  readonly pairedForOperator: (subscriptionId: string) => void;
  readonly codeHost: Pick<CodeHost, 'publish'>;
  readonly socketTokens: SocketTokens;
  readonly syncTickets: Pick<SyncTickets, 'mint'>;
  readonly syncLane: GatewaySettings['syncLane'];
  /** Answers the operator's `doctor`. If absent, the header is ignored. */
  readonly proxyProbe?: ProxyProbe;
  /** Whether the page for administrators is served. */
  readonly administrationPage: boolean;
  /** The server's own version, for the API description. */
  readonly version: string;
}
