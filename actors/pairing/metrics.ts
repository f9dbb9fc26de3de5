/** Counts the results of refreshes at the provider of the assistant. */
import { Counter, type Registry } from 'prom-client';
import type { PairingTools } from './tools.ts';

export function countedPairing({ seal, provider }: PairingTools, registry: Registry): PairingTools {
  const refreshes = new Counter({
    name: 'scriptorium_pairing_refreshes_total',
    help: 'Refreshes of access tokens of paired subscriptions that this process has asked the provider for, by outcome. `granted` is a success; `network`, `rate-limited` and `provider-unavailable` pass. After `invalid-grant`, `invalid-token` and `credential-rejected` the subscription has to be paired again',
    labelNames: ['outcome'],
    registers: [registry],
  });
  if (provider === undefined) return { seal, provider };
  return {
    seal,
    provider: {
      ...provider,
      async refresh(refreshToken, signal) {
        const result = await provider.refresh(refreshToken, signal);
        refreshes.inc({ outcome: 'granted' in result ? 'granted' : result.failure });
        return result;
      },
    },
  };
}
