/**
 * Access tokens for requests to the provider.
 *
 *     fresh        longer than a minute to live: given at once
 *     old          a job of the subscription refreshes it, outside turns; callers wait for its end
 *     trouble      the last refresh failed for a temporary reason: the next one waits for its time, and the old token is not used
 *                  any more
 *     repair       only a new pairing helps
 *
 * There is one job for a subscription at a time. If it is started again meanwhile, it finds another token in place of the one that it
 * was to refresh. So however many callers ask at once, there is one refresh.
 *
 * After a crash the job runs again. If the provider had rotated the refresh token and the new one was lost, the provider refuses, and
 * the pairing needs repair. If the credential is replaced or removed meanwhile, the job is stopped, and its result is dropped.
 */
import { command, job, type Turn, workflow } from '../../runtime/command.ts';
import { keyed } from '../../runtime/contract.ts';
import { Pairing } from './contract.ts';
import { meter } from './metering.ts';
import { type Credential, openedRecords, putCredential } from './records.ts';
import { type GrantFailure, type GrantResult, PairingTools } from './tools.ts';
import { RefreshWaits } from './waiting.ts';

/** A token with less time to live is refreshed first, as its use takes time and clocks differ. */
const safetyMs = 60_000;
/** Longer than a refresh takes with its turns. */
const refreshMs = 60_000;
const backoffMs = 5_000;
const backoffMaxMs = 15 * 60_000;
/** The longest pause that a provider may ask for. */
const retryAfterMaxMs = 3_600_000;

const refreshOf = (subscriptionId: string) => keyed(Pairing.jobs.refresh, subscriptionId);

type UseResult =
  | { readonly outcome: 'token'; readonly accessToken: string; readonly serial: number }
  | { readonly outcome: 'unavailable' | 'later' };
type TokenState = UseResult | { readonly refreshing: number };

export const use = workflow(Pairing.commands.use, {
  creates: true,
  run: async (steps, { subscriptionId }): Promise<UseResult> => {
    const waits = steps.use(RefreshWaits);
    const waiting = waits.enter(subscriptionId);
    try {
      const found = await steps.turn({ turn: (turn) => tokenFor(turn, subscriptionId) });
      if ('outcome' in found) return found;
      await waiting.finished;
      return await steps.turn({ turn: (turn) => tokenAfter(turn, subscriptionId, found.refreshing) });
    } finally {
      waiting.leave();
    }
  },
});

function tokenFor(turn: Turn, subscriptionId: string): TokenState {
  const credential = usable(turn, subscriptionId);
  if (credential === undefined) return { outcome: 'unavailable' };
  const { expiresAtMs, serial, refreshToken } = credential;
  if (expiresAtMs - turn.nowMs > safetyMs) return tokenOf(credential);
  if (isPaused(turn, credential)) return { outcome: 'later' };
  if (refreshToken === null) {
    putCredential(turn, subscriptionId, { ...credential, repairReason: 'missing-refresh-token' });
    return { outcome: 'unavailable' };
  }
  turn.start(refreshOf(subscriptionId), { subscriptionId, serial });
  return { refreshing: serial };
}

/** A token that was refreshed just now is used, however short its life. */
function tokenAfter(turn: Turn, subscriptionId: string, serial: number): UseResult {
  const credential = usable(turn, subscriptionId);
  if (credential === undefined) return { outcome: 'unavailable' };
  const isNew = credential.serial !== serial && credential.expiresAtMs > turn.nowMs;
  return isNew ? tokenOf(credential) : { outcome: 'later' };
}

const tokenOf = ({ accessToken, serial }: Credential): UseResult => ({
  outcome: 'token',
  accessToken,
  serial,
});

function usable(turn: Turn, subscriptionId: string): Credential | undefined {
  const credential = credentialIn(turn, subscriptionId);
  const isUsable = credential?.repairReason === null && turn.use(PairingTools).provider !== undefined;
  return isUsable ? credential : undefined;
}

function credentialIn(turn: Turn, subscriptionId: string): Credential | undefined {
  const records = openedRecords(turn);
  return typeof records === 'string' ? undefined : records.credentials.get(subscriptionId);
}

// --- the job -------------------------------------------------------------------------------------------------

export const refreshPairing = job(Pairing.jobs.refresh, {
  timeoutMs: refreshMs,
  run: async (run, { subscriptionId, serial }) => {
    try {
      const { provider } = run.use(PairingTools);
      const refreshToken = await run.turn({ turn: (turn) => tokenToRefreshBy(turn, subscriptionId, serial) });
      if (!refreshToken || provider === undefined) return await run.finish();
      const result = await provider.refresh(refreshToken, run.signal);
      // The result of a run that was stopped is dropped.
      run.signal.throwIfAborted();
      return await run.finish({ turn: (turn) => conclude(turn, subscriptionId, result) });
    } finally {
      run.use(RefreshWaits).end(subscriptionId);
    }
  },
});

/** The refresh token to use; null if there is nothing to refresh any more. */
function tokenToRefreshBy(turn: Turn, subscriptionId: string, serial: number): string | null {
  const credential = usable(turn, subscriptionId);
  if (credential?.serial !== serial || isPaused(turn, credential)) return null;
  return credential.refreshToken;
}

const isPaused = (turn: Turn, { trouble }: Credential): boolean =>
  trouble !== null && trouble.retryAtMs > turn.nowMs;

export const stopRefresh = (turn: Turn, subscriptionId: string): void => turn.stop(refreshOf(subscriptionId));

function conclude(turn: Turn, subscriptionId: string, result: GrantResult): void {
  const credential = credentialIn(turn, subscriptionId);
  if (credential !== undefined) putCredential(turn, subscriptionId, after(turn, credential, result));
}

function after(turn: Turn, credential: Credential, result: GrantResult): Credential {
  if ('granted' in result) {
    const { accessToken, refreshToken, lifetimeMs, accountLabel, accountId } = result.granted;
    return {
      ...credential,
      serial: credential.serial + 1,
      accessToken,
      refreshToken: refreshToken ?? credential.refreshToken,
      expiresAtMs: turn.nowMs + lifetimeMs,
      accountLabel: accountLabel ?? credential.accountLabel,
      accountId: accountId ?? credential.accountId,
      trouble: null,
    };
  }
  const { failure, retryAfterMs = 0 } = result;
  if (!isPassing(failure)) return { ...credential, repairReason: failure, trouble: null };
  const times = (credential.trouble?.times ?? 0) + 1;
  const waitMs = Math.max(pauseMs(turn, times), Math.min(retryAfterMs, retryAfterMaxMs));
  return { ...credential, trouble: { failure, times, retryAtMs: turn.nowMs + waitMs } };
}

type Passing = Extract<GrantFailure, 'network' | 'rate-limited' | 'provider-unavailable'>;
const isPassing = (failure: GrantFailure): failure is Passing =>
  failure === 'network' || failure === 'rate-limited' || failure === 'provider-unavailable';

/** The pause doubles each time. It varies by a fifth, so that servers do not all return at the same time. */
function pauseMs(turn: Turn, times: number): number {
  const nominalMs = Math.min(backoffMs * 2 ** Math.min(times - 1, 20), backoffMaxMs);
  return Math.round(nominalMs * (0.8 + (turn.random.bytes(1).readUInt8() / 255) * 0.4));
}

// --- afterwards ----------------------------------------------------------------------------------------------

/** Notes that a token was rejected. It is refreshed before the next use; if that does not help, the pairing needs repair. */
export const reportUse = command(Pairing.commands.reportUse, {
  creates: true,
  repeat: 'recorded',
  turn: (turn, { subscriptionId, serial, isRejected, ...used }) => {
    const credential = credentialIn(turn, subscriptionId);
    if (credential === undefined) return {};
    if (!isRejected) meter(turn, subscriptionId, used);
    const { doubtedSerial } = credential;
    // Another token has taken its place since, or several were rejected at once.
    if (credential.serial !== serial || doubtedSerial === serial) return {};
    if (isRejected) putCredential(turn, subscriptionId, rejected(credential));
    else if (doubtedSerial !== null)
      putCredential(turn, subscriptionId, { ...credential, doubtedSerial: null });
    return {};
  },
});

const rejected = (credential: Credential): Credential =>
  credential.doubtedSerial === null
    ? { ...credential, expiresAtMs: 0, doubtedSerial: credential.serial }
    : { ...credential, repairReason: 'credential-rejected' };
