/** What pairing needs from outside. */
import { dependency } from '../../runtime/dependency.ts';
import type { PairingSeal } from './seal.ts';

/** What a provider has granted. */
export interface Granted {
  readonly accessToken: string;
  /** Null: none, or the one it was refreshed by goes on. */
  readonly refreshToken: string | null;
  readonly lifetimeMs: number;
  /** Names for people; nothing is decided by them. */
  readonly accountLabel: string | null;
  readonly accountId: string | null;
}

/** All that is known of what went wrong: no provider's words. The first three end a pairing, the others pass. */
export type GrantFailure =
  | ('invalid-grant' | 'invalid-token' | 'credential-rejected')
  | ('network' | 'rate-limited' | 'provider-unavailable');

export type GrantResult =
  | { readonly granted: Granted }
  | { readonly failure: GrantFailure; readonly retryAfterMs?: number | undefined };

/** The provider's authorization server. Nothing throws what is its fault. */
export interface PairingProvider {
  readonly redirectUri: string;
  authorizationUrl(attempt: { readonly state: string; readonly verifier: string }): string;
  exchange(attempt: {
    readonly code: string;
    readonly state: string;
    readonly verifier: string;
  }): Promise<GrantResult>;
  refresh(refreshToken: string, signal: AbortSignal): Promise<GrantResult>;
}

export interface PairingTools {
  /** Absent without the operator's key. */
  readonly seal: PairingSeal | undefined;
  /** Absent unless everything it needs is set. */
  readonly provider: PairingProvider | undefined;
}
export const PairingTools = dependency<PairingTools>('what pairing needs');

/** Those of a server that pairs with nobody. */
export const noPairing: PairingTools = { seal: undefined, provider: undefined };
