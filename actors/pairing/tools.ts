/** The dependencies of pairing. */
import { dependency } from '../../runtime/dependency.ts';
import type { PairingSeal } from './seal.ts';

/** The grant of a provider. */
export interface ProviderGrant {
  readonly accessToken: string;
  /** Null if there is none, or if the previous one stays valid. */
  readonly refreshToken: string | null;
  readonly lifetimeMs: number;
  /** Names for display; they decide nothing. */
  readonly accountLabel: string | null;
  readonly accountId: string | null;
}

/** The kinds of failure, without words of the provider. The first three end a pairing, and the others are temporary. */
export type GrantFailure =
  | ('invalid-grant' | 'invalid-token' | 'credential-rejected')
  | ('network' | 'rate-limited' | 'provider-unavailable');

export type GrantResult =
  | { readonly granted: ProviderGrant }
  | { readonly failure: GrantFailure; readonly retryAfterMs?: number | undefined };

/** The provider's authorization server. Its failures are results, and nothing throws them. */
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

/** The dependencies of a server without pairing. */
export const noPairing: PairingTools = { seal: undefined, provider: undefined };
