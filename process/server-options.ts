/** The inputs of every part of the server: its settings, its ports and the lifetime in which it opens things. */
import type { Logger } from 'pino';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Tracer } from '../runtime/tracing.ts';
import type { Config, Secrets } from './config/settings.ts';
import type { Lifetime } from './lifetime.ts';

export interface ServerOptions {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly lifetime: Lifetime;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}
