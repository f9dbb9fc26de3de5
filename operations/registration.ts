/** `scriptorium.v1.Registration`: whether new users may register. Administrators can also set it in a client. */
import { Instance, instanceId, registrationOf } from '../actors/instance/contract.ts';
import type { RegistrationService } from '../proto/generated/scriptorium/v1/registration.ts';
import { type AskOptions, unlessAbsent } from '../runtime/handles.ts';
import type { Handlers } from './calls.ts';
import type { InternalApiOptions } from './internal-api-options.ts';

type Options = Pick<InternalApiOptions, 'actors' | 'registrationDisabled' | 'logger'>;

export function registrationHandlers(options: Options): Handlers<RegistrationService> {
  const { actors, registrationDisabled, logger } = options;
  const instance = actors.get(Instance, instanceId).ask;

  async function decide(disabled: boolean, ask: AskOptions) {
    const decided = await instance.setRegistration({ disabled }, ask);
    logger.info({ disabled }, 'an operator has said whether anybody may register');
    return registrationOf(decided, registrationDisabled);
  }

  return {
    async show(_request, ask) {
      return registrationOf(await unlessAbsent(instance.registration({}, ask)), registrationDisabled);
    },
    allow: (_request, ask) => decide(false, ask),
    forbid: (_request, ask) => decide(true, ask),
  };
}
