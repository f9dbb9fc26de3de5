/** The `instance` kind: one actor with the decisions that concern the whole server and are made while it runs. */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';

export const instanceId = 'instance';

const registration = z.object({ disabled: z.boolean() });

/** The effect of a decision: it cannot open a registration that the settings have closed. */
export function registrationOf(decided: z.infer<typeof registration> | undefined, closedBySettings: boolean) {
  return { open: !closedBySettings && decided?.disabled !== true, closedBySettings };
}

export const Instance = contract({
  name: 'instance',
  commands: {
    /** Whether an administrator or an operator has closed the registration. */
    registration: { request: z.object({}), reply: registration },
    setRegistration: { request: registration, reply: registration },
    /** How many accounts still have a password that was hashed by another server. */
    importedPasswords: { request: z.object({}), reply: z.object({ left: z.int() }) },
  },
  tells: {
    /** A user tells that they have one imported password more (1) or fewer (-1). */
    importedPasswords: z.object({ by: z.int() }),
  },
});
