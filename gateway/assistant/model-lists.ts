/** The models of each provider, fetched now and then and cached in between. */
import type { ProviderAccess } from '../../actors/assistant/policy.ts';
import { isModel, type ProviderId } from '../../actors/assistant/profiles.ts';
import type { OutboundHttp } from '../../actors/outbound/http.ts';
import type { Clock } from '../../runtime/clock.ts';
import { listAt, type Provider, textAt } from './provider.ts';

const cacheMs = 5 * 60_000;
/** How long a failed list stays cached, so that not every user asks a provider that is down. */
const failureCacheMs = 30_000;
const timeoutMs = 10_000;
const answerBytesMax = 2 * 1_048_576;
const modelsMax = 1_000;

interface CachedModels {
  readonly models: Promise<readonly string[]>;
  untilMs: number;
}

export interface ModelListOptions {
  readonly http: OutboundHttp;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export class ModelLists {
  readonly #options: ModelListOptions;
  readonly #cached = new Map<ProviderId, CachedModels>();

  constructor(options: ModelListOptions) {
    this.#options = options;
  }

  /** Empty if the list is unavailable. Clients then let the user type the name of a model. */
  of(id: ProviderId, provider: Provider, access: ProviderAccess): Promise<readonly string[]> {
    const { clock } = this.#options;
    const before = this.#cached.get(id);
    if (before !== undefined && clock.monotonicMs() < before.untilMs) return before.models;
    const cached: CachedModels = { models: this.#ask(provider, access), untilMs: Number.POSITIVE_INFINITY };
    this.#cached.set(id, cached);
    cached.models.then((models) => {
      cached.untilMs = clock.monotonicMs() + (models.length > 0 ? cacheMs : failureCacheMs);
    });
    return cached.models;
  }

  async #ask(provider: Provider, access: ProviderAccess): Promise<readonly string[]> {
    const { path, listField, idField } = provider.models;
    try {
      const { status, body } = await this.#options.http.send({
        destination: 'fixed',
        url: access.baseUrl + path,
        headers: provider.headers(access),
        timeoutMs,
        answerBytesMax,
      });
      if (status !== 200) return [];
      const ids = listAt(JSON.parse(body.toString()), listField).map((each) => textAt(each, idField));
      return ids.filter((each) => each !== undefined && isModel(each)).slice(0, modelsMax) as string[];
    } catch {
      return [];
    }
  }
}
